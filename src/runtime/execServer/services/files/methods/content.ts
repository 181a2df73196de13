import type { FileHandle } from 'node:fs/promises';
import { errorCodes, RpcError } from '../../../protocol/errors.ts';
import { decodeBase64 } from '../base64.ts';
import type { Links } from '../held.ts';
import type { Judge } from '../judge.ts';
import { noJudge } from '../judge.ts';
import { longestFile, longestInOneMessage, outgrown } from '../limits.ts';
import { openToRead, openToReplace } from './openFile.ts';
import { replaceAtOnce } from './replaceAtOnce.ts';

/** A multiple of three, so that pieces of base64 can be joined. */
const pieceLength = 3 * 256 * 1024;

/**
 * A whole file as base64, read and encoded piece by piece, so that others are served between. With more bytes than
 * `atMost` it is given up with the code {@link outgrown}.
 */
export async function readFile(
  path: string,
  links: Links,
  judge: Judge,
  atMost: number = Infinity,
): Promise<string> {
  const file = await openToRead(path, links, judge);
  try {
    requireReadable((await file.stat()).size, path);
    return await readAll(file, path, atMost);
  } finally {
    await file.close();
  }
}

async function readAll(file: FileHandle, path: string, atMost: number): Promise<string> {
  const piece = Buffer.allocUnsafe(pieceLength);
  let text = '';
  for (let length = 0; ;) {
    const read = await fill(file, piece, length);
    text += piece.toString('base64', 0, read);
    length += read;
    // Files in /proc have no size, and others grow.
    requireReadable(length, path);
    if (length > atMost) {
      throw new RpcError(outgrown, `${path} has more than ${atMost} bytes`);
    }
    if (read < piece.length) {
      return text;
    }
  }
}

/** Reads until the buffer is full or the file ends. */
export async function fill(file: FileHandle, buffer: Buffer, position: number): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, position + filled);
    if (bytesRead === 0) {
      break;
    }
    filled += bytesRead;
  }
  return filled;
}

export async function writeFile(path: string, dataBase64: string, links: Links, judge: Judge): Promise<void> {
  const bytes = decodeBase64(dataBase64, 'fs/writeFile requires valid base64 dataBase64: ');
  if (links === 'all' && judge === noJudge && replaceAtOnce(path, bytes)) {
    return;
  }
  const file = await openToReplace(path, links, judge);
  try {
    await writeAll(file, bytes, 0);
  } finally {
    await file.close();
  }
}

export async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const part = await file.write(bytes, written, bytes.length - written, position + written);
    written += part.bytesWritten;
  }
}

function requireReadable(size: number, path: string): void {
  if (size > longestFile) {
    throw new RpcError(errorCodes.invalidRequest, `file is too large to read: limit is ${longestFile} bytes`);
  }
  if (size > longestInOneMessage) {
    throw new RpcError(
      errorCodes.invalidRequest,
      `${path} has ${size} bytes and one message can carry ${longestInOneMessage}: read it in blocks (fs/open, fs/readBlock)`,
    );
  }
}
