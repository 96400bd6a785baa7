import { bindRequest, date, int, jsonField, list, routeParam, string, type Fail } from 'bindonce';
import express from 'express';

class Line {
  @jsonField(string.with({ minLength: 1 })) sku!: string;                // @IsString() @IsNotEmpty()
  @jsonField(int.with({ minimum: 1 })) quantity!: number;                // @IsInt() @Min(1)
}

class Book {
  @routeParam(int) roomId!: number;                                      // @Param('roomId', ParseIntPipe)
  @jsonField(list(Line, { minItems: 1 })) lines!: Line[];                // @ValidateNested({ each: true }) @Type(() => Line)
  @jsonField(date) from!: string;                                        // @IsDateString()
  @jsonField(date) to!: string;

  static check(book: Book, fail: Fail<Book>) {                           // a custom constraint of the class
    if (book.to < book.from) fail('to', 'must not be before from');
  }
}

express().post('/rooms/:roomId/bookings', bindRequest(Book), (req, res) => { res.status(201).json(req.dto.lines.length); });
