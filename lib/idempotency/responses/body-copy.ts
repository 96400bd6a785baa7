/** Chunks that are joined to one: each that is kept by itself takes some 100 bytes besides its own. */
const JOINED = 1_000;

/** A copy of the body of a response, unless that is too long to be kept. */
export class BodyCopy {
  /** Number of bytes that were written, kept or not. */
  bytes = 0;
  private chunks: Buffer[] | undefined = [];
  /** Number of chunks that have been joined. */
  private joined = 0;

  constructor(private readonly maxBytes: number) {}

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.bytes > this.maxBytes) this.chunks = undefined;
    if (!this.chunks || chunk.length === 0) return;
    this.chunks.push(chunk);
    if (this.chunks.length - this.joined < JOINED) return;
    this.chunks.push(Buffer.concat(this.chunks.splice(this.joined)));
    this.joined++;
  }

  /** The whole body; undefined if it was too long. */
  get content(): Buffer | undefined {
    return this.chunks && Buffer.concat(this.chunks);
  }
}
