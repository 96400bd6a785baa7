import KeyvRedis from '@keyv/redis';
import { configure } from 'bindonce';
import { Keyv } from 'keyv';

const store = new Keyv(new KeyvRedis('rediss://shop:secret@redis:6379'), { namespace: 'shop' });
store.on('error', error => { console.error(error); });

export const { idempotency, bindRequest } = configure({ idempotency: { store } });
