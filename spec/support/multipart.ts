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
