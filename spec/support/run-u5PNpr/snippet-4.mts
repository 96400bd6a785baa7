import { bindRequest, dto, guid, nullable, omit, partial, pick, routeParam, string } from 'bindonce';
import express from 'express';

class Article extends dto({ id: routeParam(guid), title: string, note: nullable(string) }) {}
class NewArticle extends omit(Article, ['id']) {}
class ChangedArticle extends partial(NewArticle) {}
export class Title extends pick(Article, ['title']) {}

express().patch('/articles/:id', bindRequest(ChangedArticle), (req, res) => { res.json({ ...req.dto }); });
