import type { PartsTaken } from '../../lib/body/form/parts';

/** Stores all files. */
export const allFiles: PartsTaken = { takesFile: () => true, takesJson: () => false };

/** One part of a multipart form: a file when it has a file name. */
export interface Part {
  readonly name: string;
  readonly filename?: string;
  readonly type?: string;
  readonly value: string | Buffer;
}

/** A multipart form (RFC 7578) as it goes over the wire. */
export function multipart(
  parts: readonly Part[],
  boundary: string,
): { readonly body: Buffer; readonly headers: { 'Content-Type': string } } {
  const sections = parts.flatMap(({ name, filename, type, value }) => [
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`,
    ),
    Buffer.from(value),
    Buffer.from('\r\n'),
  ]);
  return {
    body: Buffer.concat([...sections, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  };
}

/** Makes the part that a browser makes of an entry of a form. */
export async function partOf([name, value]: readonly [name: string, value: string | File]): Promise<Part> {
  return typeof value === 'string'
    ? { name: escaped(name), value: value.replace(/\r\n?|\n/g, '\r\n') }
    : {
        name: escaped(name),
        filename: escaped(value.name),
        type: value.type || 'application/octet-stream',
        value: Buffer.from(await value.arrayBuffer()),
      };
}

const escaped = (name: string): string => name.replace(/\r\n?|\n/g, '%0D%0A').replaceAll('"', '%22');
