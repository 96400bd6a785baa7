import { dto, int } from 'bindonce';

export class Stay extends dto({ nights: int.with({ minimum: 1, check: nights => nights % 7 !== 0 || 'must not be whole weeks' }) }) {}
