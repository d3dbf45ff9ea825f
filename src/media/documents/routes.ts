import { Elysia } from 'elysia'
import { answer, errors } from '../../http/envelope'
import { type Guard, toCall } from '../../http/guard'
import { checked, checkedQuery, t } from '../../kernel/schema'
import { DocumentInput, MadeDocument } from './schema'
import type { Documents } from './service'

const ById = checkedQuery(t.Object({ id: t.String() }))

/** `/documents` (contract 6). */
export const documentRoutes = (documents: Documents, guard: Guard) =>
  new Elysia({ tags: ['Documents'] })
    .use(guard)
    .post(
      '/documents',
      ({ body, request, exchange, server, route }) => {
        server?.timeout(request, 0)
        return documents.create(toCall({ exchange, request, route }), body)
      },
      {
        scope: 'completions',
        idempotent: true,
        timeLimit: 'own',
        body: checked(DocumentInput),
        response: {
          200: answer(MadeDocument),
          ...errors(400, 401, 402, 403, 409, 413, 415, 429, 500, 503, 504),
        },
        detail: {
          summary: 'Create a document',
          description:
            'Writes what the prompt asks for, or lays out its text and data, as `pdf`, `docx`, `pptx`, ' +
            '`xlsx` or `csv`. Pictures are the caller’s own artifacts, named as `![description](art_…)`.',
        },
      },
    )
    .get('/documents/:id', (context) => documents.get(toCall(context), context.params.id), {
      scope: 'completions',
      params: ById,
      response: { 200: answer(MadeDocument), ...errors(401, 403, 404, 429) },
      detail: { summary: 'Read a document, with a new link to its file' },
    })
