import { dto, file, int, routeParam, string, type Configured } from 'bindonce';
import { Router } from 'express';
import type { Ledger } from './ledger';

export class UploadDocument extends dto({ customerId: routeParam(string), title: string, file }) {}

export interface Document {
  readonly customerId: string;
  readonly title: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/** A document, as the shop answers. */
export class DocumentKept extends dto({ customerId: string, title: string, name: string, size: int }) {}

export function documents({ idempotency, bindRequest }: Configured, ledger: Ledger<Document>): Router {
  const router = Router();

  router.post(
    '/customers/:customerId/documents',
    idempotency(),
    bindRequest(UploadDocument, {
      allowFormData: true,
      responses: { 201: DocumentKept },
      openapi: { operationId: 'uploadDocument', summary: 'Keeps a document, once', tags: ['documents'] },
    }),
    async (req, res) => {
      const {
        customerId,
        title,
        file: { originalname: name, size },
      } = req.dto;
      const document: Document = { customerId, title, name, size };
      await ledger.add(document);
      res.status(201).json(document);
    },
  );

  router.get('/customers/:customerId/documents', async (req, res) => {
    const all = await ledger.all();
    res.json({
      documents: all
        .filter(({ customerId }) => customerId === req.params.customerId)
        .map(({ title, name, size }) => ({ title, name, size })),
    });
  });

  return router;
}
