import { create as disposition } from 'content-disposition'
import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checkedQuery, t } from '../kernel/schema'
import { Artifact, ArtifactDeleted, ArtifactPage, ArtifactQuery } from './schema'
import type { Files } from './service'
import type { ArtifactRow } from './table'

/** What a browser shows and cannot run. Everything else is handed over as a download. */
const SHOWN =
  /^(image\/(png|jpeg|gif|webp|avif)|video\/(mp4|webm)|audio\/(mpeg|mp4|ogg|wav|webm|x-m4a|opus)|application\/pdf)$/

/** Which part of a file answers a request; `ignored` when a range was asked for and the whole file answers. */
type Part = { status: 200 | 206; from: number; to: number; ignored: boolean } | { status: 304 } | { status: 416 }

type Request = Pick<Headers, 'get'>

const etagOf = ({ sha256 }: Pick<ArtifactRow, 'sha256'>): string => `"${sha256}"`

const ById = checkedQuery(t.Object({ id: t.String() }))
const ListQuery = checkedQuery(ArtifactQuery)
const Link = checkedQuery(t.Object({ expires: t.String({ default: '' }), signature: t.String({ default: '' }) }))

/** `/artifacts`: files of the caller (contract 2.3). */
export const artifactRoutes = (files: Files, guard: Guard) =>
  new Elysia({ prefix: '/artifacts', tags: ['Artifacts'] })
    .use(guard)
    .get('', (context) => files.list(toCall(context), context.query), {
      scope: 'completions',
      query: ListQuery,
      response: { 200: answer(ArtifactPage), ...errors(400, 401, 403, 429) },
      detail: { summary: 'List your files, newest first, with new links' },
    })
    .get('/:id', (context) => files.get(toCall(context), context.params.id), {
      scope: 'completions',
      params: ById,
      response: { 200: answer(Artifact), ...errors(401, 403, 404, 429) },
      detail: { summary: 'Read an artifact, with a new link to its file' },
    })
    .delete(
      '/:id',
      async (context) => {
        await files.remove(toCall(context), context.params.id)
        return { deleted: true as const }
      },
      {
        scope: 'completions',
        params: ById,
        response: { 200: answer(ArtifactDeleted), ...errors(401, 403, 404, 429) },
        detail: { summary: 'Delete an artifact and its file' },
      },
    )

/** `/files/{id}`: what signed links read, whole or in part, outside the API. */
export const fileRoutes = (files: Pick<Files, 'byLink' | 'read'>, guard: Guard) =>
  new Elysia({ prefix: '/files', detail: { hide: true } }).use(guard).get(
    '/:id',
    async ({ params, query, request, set }) => {
      const row = await files.byLink(params.id, query)
      const part = partOf(row, request.headers)
      const headers = headersOf(row)
      // The access log reads the status here.
      set.status = part.status
      if (part.status === 304) return new Response(null, { status: 304, headers })
      if (part.status === 416) {
        const unsatisfied = { 'content-range': `bytes */${row.size_bytes}`, 'cache-control': headers['cache-control']! }
        return new Response(null, { status: 416, headers: unsatisfied })
      }
      const { status, from, to, ignored } = part
      if (status === 206) headers['content-range'] = `bytes ${from}-${to - 1}/${row.size_bytes}`
      if (request.method === 'HEAD' || from === to) {
        return new Response(null, { status, headers: { ...headers, 'content-length': String(to - from) } })
      }
      const bytes = await files.read(row, { from, to })
      // The runtime would answer a file with the range of the request, which does not apply here.
      return new Response(ignored && bytes instanceof Blob ? bytes.stream() : bytes, { status, headers })
    },
    { open: true, cors: 'anyone', query: Link },
  )

/** The part of a file that a request's headers ask for (RFC 9110). Several ranges give all of it. */
function partOf(row: Pick<ArtifactRow, 'sha256' | 'size_bytes'>, headers: Request): Part {
  const etag = etagOf(row)
  const size = row.size_bytes
  if ((headers.get('if-none-match') ?? '').split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim())))
    return { status: 304 }
  const question = headers.get('range')
  const whole = { status: 200 as const, from: 0, to: size, ignored: question !== null }
  const condition = headers.get('if-range')
  if (question === null || (condition !== null && condition.trim() !== etag)) return whole
  const span = spanOf(question, size)
  return span === null ? whole : span.from >= span.to ? { status: 416 } : { status: 206, ...span, ignored: false }
}

/** One range of bytes, empty when the file has none of it; null for anything else, which a server may ignore. */
function spanOf(range: string, size: number): { from: number; to: number } | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.trim()) ?? []
  if (first === '') return last === '' ? null : { from: Math.max(0, size - Number(last)), to: size }
  if (last !== '' && Number(last) < Number(first)) return null
  return { from: Number(first), to: last === '' ? size : Math.min(Number(last) + 1, size) }
}

/**
 * Headers of a file: never run, never guessed at, never kept by others' caches (catalogue O7). A sandbox would keep
 * browsers from showing a PDF, which has no access to the page's origin in their viewers.
 */
function headersOf(row: ArtifactRow): Record<string, string> {
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
