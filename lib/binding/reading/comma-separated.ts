/** Splits one value at its commas, unless that makes an empty item: then the comma is part of the text. */
export function splitAtCommas(text: string): string[] {
  const parts = text.split(',');
  return parts.some(part => part.trim() === '') ? [text] : parts;
}
