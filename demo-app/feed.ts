import type { Response } from 'express';
import { MOST_EVENTS, type ShopEvent } from './messages';
import type { Storage } from './storage';

/** Milliseconds between two signs of life; proxies close a connection on which nothing is sent. */
const HEARTBEAT = 15_000;

/** The events of all processes, sent to pages as they happen (Server-Sent Events). */
export class Feed {
  private readonly pages = new Set<Response>();
  /** The latest events, as they are sent. */
  private readonly latest: string[] = [];

  constructor(private readonly storage: Storage['name']) {
    process.on('message', (event: ShopEvent | 'connection') => {
      if (event === 'connection') return;
      const text = `data: ${JSON.stringify(event)}\n\n`;
      this.latest.push(text);
      if (this.latest.length > MOST_EVENTS) this.latest.shift();
      for (const page of this.pages) page.write(text);
    });
    setInterval(() => {
      for (const page of this.pages) page.write(':\n\n');
    }, HEARTBEAT).unref();
  }

  /** Sends the latest events, and from then on each new one. */
  follow(res: Response): void {
    res.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    const shop = `event: shop\ndata: ${JSON.stringify({ storage: this.storage })}\nretry: 300\n\n`;
    res.write([shop, ...this.latest].join(''));
    this.pages.add(res);
    res.once('close', () => this.pages.delete(res));
  }

  /** Ends the answers to all pages: they would keep the process from stopping. */
  end(): void {
    for (const page of this.pages) page.end();
  }
}
