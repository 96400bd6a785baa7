import { bindRequest, dto, file, formField, string } from 'bindonce';
import express from 'express';

class UploadDocument extends dto({ title: formField(string), document: file.with({ maxBytes: 5_000_000, mediaTypes: ['application/pdf'] }) }) {}

express().post('/documents', bindRequest(UploadDocument, { allowFormData: true, uploads: { storage: 'disk' } }), (req, res) => {
  res.json({ name: req.dto.document.originalname, size: req.dto.document.size });
});
