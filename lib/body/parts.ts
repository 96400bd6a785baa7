/** What a form is read for: which of its parts are wanted, and as what. */
export interface PartsTaken {
  /** False for the name of a file that nobody asks for; it is not stored. */
  readonly takesFile: (name: string) => boolean;
  /** True for the name of a part that is read as a field where it is sent as a file of JSON, as a Blob is. */
  readonly takesJson: (name: string) => boolean;
}

/** All files are taken; those of JSON are read as fields. */
export const filesAndJson: PartsTaken = { takesFile: () => true, takesJson: () => true };

/** All files are taken, and none is read as a field. */
export const allFiles: PartsTaken = { takesFile: () => true, takesJson: () => false };
