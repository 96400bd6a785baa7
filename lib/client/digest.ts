/** Hashes text or bytes with SHA-256. @returns hex digits. */
export async function sha256(data: string | ArrayBuffer): Promise<string> {
  const { subtle } = crypto as { readonly subtle?: typeof crypto.subtle };
  if (!subtle)
    throw new TypeError(
      'idempotentFetch: crypto.subtle is missing, because the page was not served over https. Serve it over https ' +
        '(or from localhost), or pass a `key` with the request.',
    );
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  const hash = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return Array.from(hash, byte => byte.toString(16).padStart(2, '0')).join('');
}
