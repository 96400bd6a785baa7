/** The parts of a form that are kept, and how they are read. */
export interface PartsTaken {
  /** True for the name of a file that is stored; others are dropped. */
  readonly takesFile: (name: string) => boolean;
  /** True for the name of a part that is read as a field even if it is sent as a JSON file, as clients send a Blob. */
  readonly takesJson: (name: string) => boolean;
}

/** Stores all files, except that JSON files are read as fields. */
export const filesAndJson: PartsTaken = { takesFile: () => true, takesJson: () => true };
