import { create as disposition } from 'content-disposition'
import { Elysia } from 'elysia'
import { reading } from '../http/body'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import type { OperatorEdge } from '../http/operator-edge'
import { operatorRoutes, operatorVerb, tenantRoutes, tenantVerb } from '../http/verbs'
import { ownerOf } from '../kernel/caller'
import { checkedPath, t } from '../kernel/schema'
import {
  KEPT_AS,
  OverseenUpload,
  OverseenUploads,
  OverseenUploadsQuery,
  Upload,
  UploadDeleted,
  UploadList,
  UploadQuery,
} from './schema'
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

type Deps = Parameters<typeof overseeUploads>[0]

/** `/files` (contract 32.6): files that a client sends once and names by their id; for operators those of everyone. */
const verbsOf = (deps: Deps) => [
  tenantVerb(
    {
      ...{ method: 'get', path: '/files', query: UploadQuery, reply: UploadList },
      summary: 'List the files that you sent, newest first',
    },
    (call, { query }) => listUploads(deps, call, query),
  ),
  operatorVerb(
    {
      ...{ method: 'get', path: '/files', holds: ['filename'], owned: true },
      ...{ query: OverseenUploadsQuery, reply: OverseenUploads },
    },
    (_, { query, owner }) => overseeUploads(deps, query, owner),
  ),
  tenantVerb(
    { method: 'get', path: '/files/:id', reply: Upload, errors: [404], summary: 'Read what is known of a file' },
    async (call, { id }) => presentUpload(await findUpload(deps, deps.store.read, ownerOf(call.caller), id)),
  ),
  tenantVerb(
    { method: 'delete', path: '/files/:id', reply: UploadDeleted, errors: [404, 409], summary: 'Delete a file' },
    (call, { id }) => deleteUpload(deps, call, id),
  ),
  operatorVerb({ method: 'get', path: '/files/:id', holds: ['filename'], reply: OverseenUpload }, async (_, { id }) =>
    outline(await findUpload(deps, deps.store.read, null, id)),
  ),
  operatorVerb({ method: 'delete', path: '/files/:id', reply: UploadDeleted }, (call, { id }) =>
    deleteUpload(deps, call, id),
  ),
]

export const uploadRoutes = (deps: Deps, guard: Guard) =>
  tenantRoutes(verbsOf(deps), guard, { scope: 'completions', tag: 'Files' }).use(
    new Elysia({ tags: ['Files'] })
      .use(guard)
      .post('/files', (context) => reading(context.body, (form) => createUpload(deps, toCall(context), form)), {
        scope: 'completions',
        upload: MAX_UPLOAD_BYTES,
        timeLimit: 'own',
        response: { 200: answer(Upload), ...errors(400, 401, 403, 413, 415, 429, 503) },
        detail: {
          summary: 'Send a file',
          description:
            'At most 64 MiB for `batch`, 25 MiB otherwise, and 1 GiB in all. A file stays for 30 days, or as long as ' +
            '`expires_after` says: 3,600 to 2,592,000 seconds.',
          requestBody: {
            required: true,
            content: {
              'multipart/form-data': {
                schema: {
                  type: 'object',
                  properties: {
                    file: { type: 'string', contentMediaType: 'application/octet-stream' },
                    purpose: { type: 'string', enum: Object.keys(KEPT_AS) },
                    'expires_after[anchor]': { type: 'string', enum: ['created_at'] },
                    'expires_after[seconds]': { type: 'integer' },
                  },
                  required: ['file', 'purpose'],
                },
              },
            },
          },
        } as object,
      })
      .get(
        '/files/:id/content',
        async (context) => {
          const { caller } = toCall(context)
          const row = await findUpload(deps, deps.store.read, ownerOf(caller), context.params.id)
          const headers = {
            'content-type': row.mime_type.startsWith('text/') ? `${row.mime_type}; charset=utf-8` : row.mime_type,
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

export const uploadOperatorRoutes = (deps: Deps, edge: OperatorEdge) => operatorRoutes(verbsOf(deps), edge)
