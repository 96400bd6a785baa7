import { bindRequest, dto, openapi, string } from 'bindonce';
import express from 'express';

const app = express();
app.get('/catalogue', bindRequest(dto({ page: string }), { allowAnonymous: true }));       // nothing
app.post('/imports', bindRequest(dto({ url: string }), { openapi: { security: [{ key: [], user: ['import'] }] } }));   // a key and a token with a scope

export const document = openapi(app, {
  info: { title: 'Shop', version: '1.0.0' },
  securitySchemes: {
    user: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example.com/openid' },
    key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
  },
  security: [{ user: [] }, { key: [] }],                // all others: a token or a key
});
