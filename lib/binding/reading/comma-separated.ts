/** One value with commas is split, except where that would make an empty item: such a comma belongs to the text. */
export function splitAtCommas(text: string): string[] {
  const parts = text.split(',');
  return parts.some(part => part.trim() === '') ? [text] : parts;
}
