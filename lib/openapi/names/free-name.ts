/** Returns the name, with a number if it is taken. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let count = 2; isTaken(free); count++) free = `${name}${count}`;
  return free;
}
