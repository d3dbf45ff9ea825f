import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checkedQuery, t } from '../kernel/schema'
import { Artifact, ArtifactDeleted, ArtifactPage, ArtifactQuery } from './schema'
import type { Files } from './service'
import { headersOf, partOf } from './serving'

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
