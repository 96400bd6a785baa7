/** Makes the middlewares of all endpoints, for `npx bindonce generate`. */
import { mount } from './endpoints.mjs';

mount();
