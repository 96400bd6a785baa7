import type { Location } from '../reading/location';
import type { NameTree } from '../reading/name-tree';
import { isSent } from '../types/read-value';
import { isBlocked, type Member } from './members';

/**
 * Makes the function that returns true if a name of an object was sent, at any depth. A list asks about the same names
 * at two levels: without the answers kept, each level would take twice the time.
 * @param fields returns the members, once they are known: a property can be of the same class.
 */
export function sentNames(fields: () => readonly Member[]): (tree: NameTree, location: Location) => boolean {
  const answers = new WeakMap<NameTree, boolean>();
  return (tree, location) => {
    const answer = answers.get(tree) ?? fields().some(member => isMemberSent(member, tree, location));
    answers.set(tree, answer);
    return answer;
  };
}

function isMemberSent(member: Member, tree: NameTree, location: Location): boolean {
  return !isBlocked(member, location) && isSent(member.codec, tree.at(member.bindName), location);
}
