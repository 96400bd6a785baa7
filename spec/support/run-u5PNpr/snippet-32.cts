import { dto, string, type BoundRequest } from 'bindonce';
import type { Response } from 'express';

class Rename extends dto({ name: string }) {}

export function rename(req: BoundRequest<typeof Rename>, res: Response): void {
  res.json({ name: req.dto.name });
}
