import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checked } from '../kernel/schema'
import type { CodeService } from './code'
import { CodeInput, MadeCode } from './code-schema'

/** `POST /code` (contract 6). */
export const codeRoutes = (code: CodeService, guard: Guard) =>
  new Elysia({ tags: ['Code'] }).use(guard).post(
    '/code',
    ({ body, request, exchange, server, route }) => {
      server?.timeout(request, 0)
      return code.create(toCall({ exchange, request, route }), body)
    },
    {
      scope: 'completions',
      idempotent: true,
      timeLimit: 'own',
      body: checked(CodeInput),
      response: { 200: answer(MadeCode), ...errors(400, 401, 402, 403, 409, 413, 415, 429, 500, 503, 504) },
      detail: {
        summary: 'Write code, as files that are checked',
        description:
          'Each file of the answer is an artifact with its text; several named files are also one archive. The syntax ' +
          'is checked where possible, and `checks` has the results. Nothing is run.',
      },
    },
  )
