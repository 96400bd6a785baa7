/** A token (RFC 9110, section 5.6.2). */
const TOKEN = "[!#$%&'*+\\-.^`|~\\w]";
const QUOTED = '"(?:[^"\\\\]|\\\\[^])*"';
/** The value of an extended parameter such as `filename*` (RFC 8187, section 3.2.1), in a charset that busboy knows. */
const CHARSET =
  '(?:utf-?8|utf-?16le|ucs-?2|latin1|(?:us-)?ascii|iso[-_]?8859-1|iso88591|windows-1252|(?:x-)?cp1252|base64)';
const EXTENDED = `${CHARSET}'[^']*'(?:[!#$&+\\-.^\`|~\\w]|%[\\da-f]{2})+`;
/** One without a value, which needs no charset; but not at the end. */
const EXTENDED_EMPTY = "[!#$%&+\\-^`{}~\\w]*'[^']*'(?=[\\t ;])";
const EXTENDED_PARAMETER = `${TOKEN}*\\*=(?:${EXTENDED}|${EXTENDED_EMPTY})`;
const PLAIN_PARAMETER = `${TOKEN}*(?<!\\*)=(?:${QUOTED}|${TOKEN}+)`;

const FORM_DATA = new RegExp(`^form-data(?:[\\t ]*;[\\t ]*(?:${PLAIN_PARAMETER}|${EXTENDED_PARAMETER}))*[\\t ]*$`, 'i');

/** Finds the first field of this name, which is the one that busboy reads, and the lines that it continues on. */
const FIELD = /\r\ncontent-disposition:[\t ]*((?:[^\r]|\r\n[\t ])*)/i;

/**
 * Returns true if busboy announces the part with this head. It skips a part without a `Content-Disposition`, with one
 * that is not `form-data`, and with one that it cannot parse: a quotation mark in a quoted file name, blanks around an
 * equals sign, a semicolon at the end. A handler would run without what the client has sent.
 * @param head in latin1, from the line break before it up to the empty line.
 */
export function isReadable(head: string): boolean {
  const disposition = FIELD.exec(head)?.[1]?.replaceAll(/\r\n(?=[\t ])/g, '');
  return disposition !== undefined && FORM_DATA.test(disposition);
}
