import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Form, FormOptions } from './form';
import { measuring } from './files';
import { announce, contentFrom, type Content } from './announce';
import { isOnlyStored, type ByteRange, type FilePart, type FormPart } from './form-parts';
import { PartRecorder } from './part-recorder';
import { withContent } from './with-content';
import { boundaryOf } from '../content/media-type';
import { filesAndJson } from './parts-taken';
import { formFrom, readForm } from './read-form';
import { openReceived, sizeOf, type ReceivedBytes } from '../stream/received';

/** Bytes of memory for the parts of a form; of one that is in memory itself, as many as it has, if those are more. */
const PARTS_BYTES = 65_536;

/** The parts of the forms that were measured, by the place where the bytes of each are. */
const measured = new WeakMap<object, { readonly boundary: string; readonly parts: readonly FormPart[] }>();

const placeOf = (received: ReceivedBytes): object => (received.kind === 'file' ? received.spool : received);

/** A form of which the files are measured, and not stored. */
export interface MeasuredForm extends Form {
  /** True if it has content beside its fields and files: of files without a name, and of parts that are skipped. */
  readonly hasOtherContent: boolean;
}

/**
 * Measures a received form: its fields, and the names and sizes of its files. Remembers its parts, so that
 * `readReceivedForm` need not parse it again.
 * @param takePart called with the bytes of memory that each part of the result takes.
 * @throws a 400 problem, or 413 for more than 100,000 parts, a name of more than 1,000 characters or a
 * field of more than 10 MiB; what `takePart` throws.
 */
export async function measureForm(
  received: ReceivedBytes,
  req: IncomingMessage,
  takePart: TakePart = () => undefined,
): Promise<MeasuredForm> {
  const ownBytes = received.kind === 'bytes' ? received.size : 0;
  const { form, parts } =
    (await measureWithoutContent(received, req, takePart)) ??
    (await measure(openReceived(received), req, takePart, ownBytes));
  if (parts) measured.set(placeOf(received), { boundary: boundaryOf(req), parts });
  return form;
}

type TakePart = NonNullable<FormOptions['takePart']>;

interface Measured {
  readonly form: MeasuredForm;
  /** Undefined if they take too much memory. */
  readonly parts: readonly FormPart[] | undefined;
}

async function measure(
  chunks: AsyncIterable<Buffer>,
  req: IncomingMessage,
  takePart: TakePart,
  bytesHeld = 0,
): Promise<Measured> {
  const recorder = new PartRecorder(Math.max(PARTS_BYTES, bytesHeld));
  const form = await readForm(chunks, req, {
    storage: measuring,
    parts: filesAndJson,
    preservePath: true,
    limits: { parts: 100_000, fieldNameSize: 1_000, fieldSize: 10_485_760 },
    takePart,
    recorder,
  });
  return { form: { ...form, hasOtherContent: recorder.hasOtherContent }, parts: recorder.parts() };
}

/**
 * Measures a form without reading the files that were set apart. Returns undefined if there are none, or if the parser
 * takes one of them for something else.
 */
async function measureWithoutContent(
  received: ReceivedBytes,
  req: IncomingMessage,
  takePart: TakePart,
): Promise<Measured | undefined> {
  if (received.kind !== 'file' || received.spool.apart.length === 0) return undefined;
  const { form, parts } = await measure(received.spool.chunksTogether(), req, takePart);
  const placed = parts && withContent(parts, received.spool.apart);
  const files = placed && withSizes(form.files, placed);
  return files && { form: { ...form, files }, parts: placed };
}

/** Gives files their sizes with content. They are in the order of their parts. */
function withSizes(files: Form['files'], parts: readonly FormPart[]): Form['files'] | undefined {
  const stored = parts.filter(part => part.kind === 'file' && isOnlyStored(part)) as FilePart[];
  if (stored.length !== files.length) return undefined;
  return stored.map(({ start, end }, index) => ({ ...(files[index] as Express.Multer.File), size: end - start }));
}

/**
 * Reads a received form. One that was measured is not parsed again, unless a limit may be exceeded or the names must be
 * read in another way; that is left to the parser.
 * @throws what `readForm` throws.
 */
export async function readReceivedForm(
  received: ReceivedBytes,
  req: IncomingMessage,
  options: FormOptions,
): Promise<Form> {
  const { formBytes = Infinity, take } = options;
  const size = sizeOf(received);
  const known = measured.get(placeOf(received));
  if (known?.boundary !== boundaryOf(req) || size > formBytes || !fit(known.parts, options))
    return readForm(openReceived(received), req, options);
  take?.(size);
  return formFrom(req, options, () => {
    // Multer reads only the headers of this stream. It is destroyed if the form is refused.
    const stream = Readable.from([]);
    const contentOf = (file: FilePart): Content => contentIn(received, file);
    return { stream, start: busboy => void announce(known.parts, busboy, contentOf, () => stream.destroyed) };
  });
}

function contentIn(received: ReceivedBytes, { start, end }: ByteRange): Content {
  // A storage may change the bytes that it gets, and others read the body after it.
  if (received.kind === 'bytes') return contentFrom(chunkOfCopy(received.bytes.subarray(start, end)));
  const { spool } = received;
  return contentFrom(spool.chunks(start, end), async path =>
    (await spool.moveTo(path, start, end)) ? end - start : undefined,
  );
}

function* chunkOfCopy(bytes: Buffer): Generator<Buffer, void> {
  yield Buffer.from(bytes);
}

/** Returns true if a parser with these options would surely announce the same parts. */
function fit(parts: readonly FormPart[], options: FormOptions): boolean {
  const { limits, preservePath, defParamCharset, defCharset = 'utf8' } = options;
  const { fields = Infinity, files = Infinity, fieldSize = FIELD_SIZE, fileSize = Infinity } = limits;
  const fieldCount = parts.filter(({ kind }) => kind === 'field').length;
  if (
    defCharset !== 'utf8' ||
    fieldCount > fields ||
    parts.length - fieldCount > files ||
    parts.length > (limits.parts ?? Infinity)
  )
    return false;
  return parts.every(part => {
    if (part.kind === 'field') return part.length <= fieldSize && isReadAlike(part.event[0], defParamCharset);
    const { name, info, start, end } = part;
    const isBare = preservePath || !HAS_FOLDER.test(info.filename ?? '');
    return end - start <= fileSize && isBare && [name, info.filename].every(text => isReadAlike(text, defParamCharset));
  });
}

/** The default of busboy, in bytes. */
const FIELD_SIZE = 1_048_576;

/** Names of which busboy keeps the last part only. */
const HAS_FOLDER = /[/\\]|^\.\.?$/;

/** Returns true if a name in UTF-8 reads the same in another charset; `latin1` is the default of multer. */
function isReadAlike(name = '', charset = 'utf8'): boolean {
  return charset === 'utf8' || (charset === 'latin1' && /^[\x00-\x7f]*$/.test(name));
}
