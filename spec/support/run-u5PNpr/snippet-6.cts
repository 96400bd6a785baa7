import { bindRequest, dto, file, fromForm, list, string } from 'bindonce';
import express from 'express';

class Chapter extends dto({ title: string, pictures: list(file) }) {}
class Book extends dto({ title: string, chapters: list(Chapter), tags: list(string) }) {}
class Publish extends dto({ book: fromForm(Book) }) {}

// title=Tea  chapters[0].title=Leaves  chapters[0].pictures=<file>  tags=a  tags=b
express().post('/books', bindRequest(Publish, { allowFormData: true }), (req, res) => {
  res.json(req.dto.book.chapters.map(chapter => chapter.pictures.length));
});
