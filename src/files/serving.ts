import { create as disposition } from 'content-disposition'
import type { ArtifactRow } from './table'

/** What a browser shows and cannot run. Everything else is handed over as a download. */
const SHOWN =
  /^(image\/(png|jpeg|gif|webp|avif)|video\/(mp4|webm)|audio\/(mpeg|mp4|ogg|wav|webm|x-m4a|opus)|application\/pdf)$/

/** Which part of a file answers a request; `ignored` when a range was asked for and the whole file answers. */
export type Part = { status: 200 | 206; from: number; to: number; ignored: boolean } | { status: 304 } | { status: 416 }

type Asked = Pick<Headers, 'get'>

const etagOf = ({ sha256 }: Pick<ArtifactRow, 'sha256'>): string => `"${sha256}"`

/** The part of a file that a request's headers ask for (RFC 9110). Several ranges give all of it. */
export function partOf(row: Pick<ArtifactRow, 'sha256' | 'size_bytes'>, headers: Asked): Part {
  const etag = etagOf(row)
  const size = row.size_bytes
  if (knows(headers.get('if-none-match'), etag)) return { status: 304 }
  const asked = headers.get('range')
  const whole = { status: 200 as const, from: 0, to: size, ignored: asked !== null }
  const condition = headers.get('if-range')
  if (asked === null || (condition !== null && condition.trim() !== etag)) return whole
  const span = spanOf(asked, size)
  return span === null ? whole : span.from >= span.to ? { status: 416 } : { status: 206, ...span, ignored: false }
}

/** One range of bytes, empty when the file has none of it; null for anything else, which a server may ignore. */
function spanOf(range: string, size: number): { from: number; to: number } | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.trim()) ?? []
  if (first === '') return last === '' ? null : { from: Math.max(0, size - Number(last)), to: size }
  if (last !== '' && Number(last) < Number(first)) return null
  return { from: Number(first), to: last === '' ? size : Math.min(Number(last) + 1, size) }
}

const knows = (list: string | null, etag: string): boolean =>
  (list ?? '').split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim()))

/**
 * Headers of a file: never run, never guessed at, never kept by others' caches (catalogue O7). A sandbox would keep
 * browsers from showing a PDF, which has no access to the page's origin in their viewers.
 */
export function headersOf(row: ArtifactRow): Record<string, string> {
  const isShown = SHOWN.test(row.mime_type)
  const isText = row.mime_type.startsWith('text/')
  return {
    'content-type': isText ? `${row.mime_type}; charset=utf-8` : row.mime_type,
    'content-disposition': disposition(row.filename, { type: isShown ? 'inline' : 'attachment' }),
    ...(isShown && row.mime_type === 'application/pdf'
      ? {}
      : { 'content-security-policy': "default-src 'none'; sandbox" }),
    'cross-origin-resource-policy': 'cross-origin',
    'referrer-policy': 'no-referrer',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    etag: etagOf(row),
  }
}
