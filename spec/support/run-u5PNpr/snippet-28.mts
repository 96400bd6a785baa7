import { configure, sqliteStore } from 'bindonce';

export const { idempotency, bindRequest } = configure({ idempotency: { store: sqliteStore('keys.db') } });
