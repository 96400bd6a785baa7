import { dto, int, list, type Infer, type PropertyType } from 'bindonce';

function pageOf<T>(type: PropertyType<T>) {
  return dto({ items: list(type), from: int });
}
class Numbers extends pageOf(int) {}
export const sum = ({ items }: Infer<typeof Numbers>): number => items.reduce((a, b) => a + b, 0);
