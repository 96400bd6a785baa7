import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryBound } from '../../basics/process-memory';
import type { Piece } from './files-apart';
import { SpoolFile } from './spool-file';
import { makeTemporaryFolder, type TemporaryFolder } from './temporary-folder';

/** Bytes that are read at once where the process waits for them. */
const PIECE = 65_536;

/**
 * Bytes that are read at once while the process goes on: each such step costs 50 to 200 µs, however short it is. All
 * bodies that have arrived are read at the same time: with 512 KiB for each of 80, node was killed in 256 MiB.
 */
const BLOCK = memoryBound(524_288, 1 / 4_096);

/**
 * The most files of all requests together that are apart: a process may have only so many files open, usually 1,024.
 */
const MOST_APART = 128;

/** Bytes of a body that are in a file of their own. */
interface Apart {
  readonly file: SpoolFile;
  /** Position in the body. */
  readonly start: number;
  end: number;
}

/**
 * A body that was too large for memory, on disk. Long files of a multipart form are files of their own, which can be
 * moved to where they are to be stored.
 */
export class Spool {
  /** The files of all spools of this process that are apart. */
  private static openFiles = 0;
  private written = 0;
  private readonly separate: Apart[] = [];
  private folder: TemporaryFolder | undefined;

  private constructor(private readonly main: SpoolFile) {}

  /**
   * Writes a body to temporary files, waiting for the disk. If the pieces or the disk fail, no file is left behind.
   * @throws the error of the pieces, or a 507 or 503 problem when the disk does not take them.
   */
  static async of(pieces: AsyncIterable<Piece>): Promise<Spool> {
    const spool = new Spool(await SpoolFile.unnamed());
    try {
      await spool.writeAll(pieces);
      return spool;
    } catch (error) {
      await spool.close();
      throw error;
    }
  }

  /** In bytes. */
  get size(): number {
    return this.written;
  }

  /** The places in the body that are files of their own, in their order. */
  get apart(): readonly { readonly start: number; readonly end: number }[] {
    return this.separate;
  }

  /**
   * Reads synchronously, usually from the system's cache, since the file has just been written.
   * @returns no bytes after the end.
   * @throws BodyRemoved when the file is closed; Error when it was moved and has been made shorter.
   */
  read(position: number): Buffer {
    const { file, offset, length } = this.at(position);
    return file.readNow(offset, Math.min(PIECE, length));
  }

  /**
   * Yields all bytes, or those from `start` up to `end`.
   * @throws Problem with status 503 when the disk fails; BodyRemoved when the file is closed before its end.
   */
  async *chunks(start = 0, end = this.size): AsyncGenerator<Buffer, void> {
    for (let position = start; position < end;) {
      const { file, offset, length } = this.at(position);
      const chunk = await file.read(offset, Math.min(BLOCK, length, end - position));
      position += chunk.length;
      yield chunk;
    }
  }

  /** Yields all bytes that are not apart. */
  async *chunksTogether(): AsyncGenerator<Buffer, void> {
    for (let position = 0; position < this.main.size;) {
      const chunk = await this.main.read(position, Math.min(BLOCK, this.main.size - position));
      position += chunk.length;
      yield chunk;
    }
  }

  /**
   * Moves the bytes from `start` up to `end` to a file. They can be read here as before, until that file is changed.
   * @returns false if they are not apart, were moved before, or `path` is on another file system.
   */
  async moveTo(path: string, start: number, end: number): Promise<boolean> {
    const found = this.separate.find(one => one.start === start && one.end === end);
    return found !== undefined && found.file.moveTo(path);
  }

  /** Closes and removes the files. Never rejects. */
  async close(): Promise<void> {
    await Promise.all(this.files().map(file => file.close()));
    Spool.openFiles -= this.separate.splice(0).length;
    await this.folder?.remove();
  }

  private async writeAll(pieces: AsyncIterable<Piece>): Promise<void> {
    let own: Apart | undefined;
    let wasApart = false;
    for await (const { bytes, isApart } of pieces) {
      if (bytes.length === 0) continue;
      if (isApart !== wasApart) own = isApart ? await this.openApart() : undefined;
      wasApart = isApart;
      await (own?.file ?? this.main).write(bytes);
      this.written += bytes.length;
      if (own) own.end = this.written;
    }
    for (const file of this.files()) await file.end();
  }

  private files(): SpoolFile[] {
    return [this.main, ...this.separate.map(({ file }) => file)];
  }

  /** Opens a file for bytes that are apart. Returns undefined if it cannot: they are as safe with the others. */
  private async openApart(): Promise<Apart | undefined> {
    if (Spool.openFiles === MOST_APART) return undefined;
    Spool.openFiles++;
    try {
      this.folder ??= await makeTemporaryFolder(tmpdir());
      const file = await SpoolFile.named(join(this.folder.path, String(this.separate.length)));
      const opened = { file, start: this.written, end: this.written };
      this.separate.push(opened);
      return opened;
    } catch {
      Spool.openFiles--;
      return undefined;
    }
  }

  /** Finds the file that has the byte at a position, where it is there, and how many bytes follow it in that file. */
  private at(position: number): { readonly file: SpoolFile; readonly offset: number; readonly length: number } {
    let before = 0;
    for (const { file, start, end } of this.separate) {
      if (position < start) return { file: this.main, offset: position - before, length: start - position };
      if (position < end) return { file, offset: position - start, length: end - position };
      before += end - start;
    }
    return { file: this.main, offset: position - before, length: this.size - position };
  }
}
