import { create as disposition } from 'content-disposition'
import { Elysia } from 'elysia'
import { reading } from '../http/body'
import { answer, errors, FILE_PART, formBody } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { operator, tenant, tenantRoutes } from '../http/verbs'
import { ownerOf } from '../kernel/caller'
import { checkedPath, checkedQuery, t } from '../kernel/schema'
import { artifactSizes, type FileOperatorDeps, getArtifact, listArtifacts, pruneArtifacts } from './operators'
import * as words from './schema'
import type { Files } from './service'
import type { ArtifactRow } from './table'
import {
  createUpload,
  deleteUpload,
  findUpload,
  listUploads,
  MAX_UPLOAD_BYTES,
  outline,
  overseeUploads,
  presentUpload,
} from './uploads'

/** Types that a browser shows but cannot run. All others are sent as downloads. */
const SHOWN =
  /^(image\/(png|jpeg|gif|webp|avif)|video\/(mp4|webm)|audio\/(mpeg|mp4|ogg|wav|webm|x-m4a|opus)|application\/pdf)$/

/** The part of a file to answer with. `ignored` if a range was requested and the whole file is sent. */
type Part = { status: 200 | 206; from: number; to: number; ignored: boolean } | { status: 304 } | { status: 416 }

const etagOf = ({ sha256 }: Pick<ArtifactRow, 'sha256'>): string => `"${sha256}"`

const Link = checkedQuery(
  t.Object({
    expires: t.String({ default: '' }),
    signature: t.String({ default: '' }),
    thumbnail: t.Optional(t.String({ maxLength: 8 })),
  }),
)

type Artifacts = FileOperatorDeps & { files: Files }

/** `/artifacts`: files of the caller (docs/api.md 2.3), and for operators of all owners (docs/operating.md 2.18). */
export const artifactVerbs = (deps: Artifacts) => [
  tenant.get(
    '/artifacts',
    {
      query: words.ArtifactQuery,
      reply: words.ArtifactPage,
      summary: 'List your files, newest first, with new links',
    },
    (call, { query }) => deps.files.list(call, query),
  ),
  operator.get(
    '/artifacts',
    {
      holds: ['filename'],
      query: words.OverseenArtifactsQuery,
      reply: words.OverseenArtifacts,
      owned: true,
    },
    (_, { query, owner }) => listArtifacts(deps, query, owner),
  ),
  tenant.get(
    '/artifacts/:id',
    {
      reply: words.Artifact,
      errors: [404],
      summary: 'Read an artifact, with a new link to its file',
    },
    (call, { id }) => deps.files.get(call, id),
  ),
  operator.get('/artifacts/:id', { holds: ['filename'], reply: words.OverseenArtifact }, (_, { id }) =>
    getArtifact(deps, id),
  ),
  tenant.delete(
    '/artifacts/:id',
    {
      reply: words.ArtifactDeleted,
      errors: [404],
      summary: 'Delete an artifact and its file',
    },
    (call, { id }) => deps.files.remove(call, id),
  ),
  operator.get('/artifact-sizes', { holds: 'facts', reply: words.ArtifactSizes, owned: true }, (_, { owner }) =>
    artifactSizes(deps, owner),
  ),
  operator.post('/artifacts/prune', { body: words.ArtifactPrune, reply: words.ArtifactsPruned }, (call, { body }) =>
    pruneArtifacts(deps, call, body),
  ),
]

export const artifactRoutes = (deps: Artifacts, guard: Guard) =>
  tenantRoutes(artifactVerbs(deps), guard, { scope: 'completions', tag: 'Artifacts' })

type Uploads = Parameters<typeof overseeUploads>[0]

/** `/files` (docs/api.md 32.6): files that a client uploads once and refers to by id. Operators see all files. */
export const uploadVerbs = (deps: Uploads) => [
  tenant.get(
    '/files',
    { query: words.UploadQuery, reply: words.UploadList, summary: 'List the files that you sent, newest first' },
    (call, { query }) => listUploads(deps, call, query),
  ),
  operator.get(
    '/files',
    { holds: ['filename'], owned: true, query: words.OverseenUploadsQuery, reply: words.OverseenUploads },
    (_, { query, owner }) => overseeUploads(deps, query, owner),
  ),
  tenant.get(
    '/files/:id',
    { reply: words.Upload, errors: [404], summary: 'Read what is known of a file' },
    async (call, { id }) => presentUpload(await findUpload(deps, deps.store.read, ownerOf(call.caller), id)),
  ),
  tenant.delete(
    '/files/:id',
    { reply: words.UploadDeleted, errors: [404, 409], summary: 'Delete a file' },
    (call, { id }) => deleteUpload(deps, call, id),
  ),
  operator.get('/files/:id', { holds: ['filename'], reply: words.OverseenUpload }, async (_, { id }) =>
    outline(await findUpload(deps, deps.store.read, null, id)),
  ),
  operator.delete('/files/:id', { reply: words.UploadDeleted }, (call, { id }) => deleteUpload(deps, call, id)),
]

/** Clients of the Messages format name no purpose, because the service they were made for has none. */
const receive = (deps: Uploads, context: Parameters<typeof toCall>[0]) => (form: Parameters<typeof createUpload>[2]) =>
  createUpload(deps, toCall(context), form, context.request.headers.has('anthropic-version') ? 'user_data' : undefined)

export const uploadRoutes = (deps: Uploads, guard: Guard) =>
  tenantRoutes(uploadVerbs(deps), guard, { scope: 'completions', tag: 'Files' }).use(
    new Elysia({ tags: ['Files'] })
      .use(guard)
      .post('/files', (context) => reading(context.body, receive(deps, context)), {
        scope: 'completions',
        upload: MAX_UPLOAD_BYTES,
        timeLimit: 'own',
        response: { 200: answer(words.Upload), ...errors(400, 401, 403, 413, 415, 429, 503) },
        detail: {
          summary: 'Send a file',
          description:
            'At most 64 MiB for `batch`, 25 MiB otherwise, and 1 GiB in all. A file stays for 30 days, or as long as ' +
            '`expires_after` says: 3,600 to 2,592,000 seconds.',
          ...formBody(
            {
              file: FILE_PART,
              purpose: { type: 'string', enum: Object.keys(words.KEPT_AS) },
              'expires_after[anchor]': { type: 'string', enum: ['created_at'] },
              'expires_after[seconds]': { type: 'integer' },
            },
            ['file', 'purpose'],
          ),
        } as object,
      })
      .get(
        '/files/:id/content',
        async (context) => {
          const { caller } = toCall(context)
          const row = await findUpload(deps, deps.store.read, ownerOf(caller), context.params.id)
          const headers = {
            'content-type': 'application/octet-stream',
            'content-disposition': disposition(row.filename, { type: 'attachment' }),
            'content-length': String(row.size_bytes),
            'x-content-type-options': 'nosniff',
            'content-security-policy': "default-src 'none'; sandbox",
          }
          return new Response(row.size_bytes ? await deps.files.read(row) : null, { headers })
        },
        {
          scope: 'completions',
          params: checkedPath(t.Object({ id: t.String() })),
          response: { 200: answer(t.String()), ...errors(401, 403, 404, 429, 503) },
          detail: { summary: 'Download a file', 'x-download': 'application/octet-stream' } as object,
        },
      ),
  )

/** `/files/{id}`: files behind signed links, whole or in part, outside the API. */
export const fileRoutes = (files: Pick<Files, 'byLink' | 'read' | 'thumbnail'>, guard: Guard) =>
  new Elysia({ prefix: '/files', detail: { hide: true } }).use(guard).get(
    '/:id',
    async ({ params, query, request, set }) => {
      const row = await files.byLink(params.id, query)
      const part = partOf(row, request.headers)
      const headers = headersOf(row)
      if (query.thumbnail && part.status === 200) {
        const small = await files.thumbnail(row)
        if (small) return new Response(small, { headers: { ...headers, 'content-type': 'image/webp' } })
      }
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
      // The runtime would apply the request's range to a file, so a stream is returned.
      return new Response(ignored && bytes instanceof Blob ? bytes.stream() : bytes, { status, headers })
    },
    { open: true, cors: 'anyone', query: Link },
  )

/** The part that the request headers select (RFC 9110). Several ranges select the whole file. */
function partOf(row: Pick<ArtifactRow, 'sha256' | 'size_bytes'>, headers: Pick<Headers, 'get'>): Part {
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

/** One range of bytes, empty if it is outside the file. Null for anything else, which a server may ignore. */
function spanOf(range: string, size: number): { from: number; to: number } | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.trim()) ?? []
  if (first === '') return last === '' ? null : { from: Math.max(0, size - Number(last)), to: size }
  if (last !== '' && Number(last) < Number(first)) return null
  return { from: Number(first), to: last === '' ? size : Math.min(Number(last) + 1, size) }
}

/**
 * Headers that prevent scripts, type sniffing and shared caching (docs/attacks.md O7). PDFs have no sandbox, because it
 * would keep browsers from showing them. Their viewers give a PDF no access to the page's origin.
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
