import type { Guard } from '../http/guard'
import { resourceVerbs } from '../http/resource-verbs'
import { tenant, tenantRoutes } from '../http/verbs'
import { t } from '../kernel/schema'
import { ChatCompletion, Completion } from './schema'
import type { createReplay, TestCases } from './test-cases'
import { ReplayEstimate, ReplayInput, TestRunAccepted, TestRunInput } from './test-cases-schema'

export const testCaseVerbs = ({ resource, run }: TestCases) =>
  [
    ...resourceVerbs(resource),
    tenant.post(
      '/test-cases/run',
      {
        body: TestRunInput,
        reply: TestRunAccepted,
        accepts: true,
        errors: [402, 404, 503],
        summary: 'Run test cases on engines; each answer is billed as a completion',
      },
      (call, { body }) => run(call, body),
    ),
  ] as const

/** `/test-cases`, for tenants and operators. */
export const testCaseRoutes = (tests: TestCases, guard: Guard) =>
  tenantRoutes(testCaseVerbs(tests), guard, { scope: 'completions', tag: 'Test cases' })

/** `POST /requests/{id}/replay`. */
export const replayRoutes = (replay: ReturnType<typeof createReplay>, guard: Guard) =>
  tenantRoutes(
    [
      tenant.post(
        '/requests/:id/replay',
        {
          body: ReplayInput,
          reply: t.Union([Completion, ChatCompletion, ReplayEstimate]),
          idempotent: true,
          timeLimit: 'own',
          errors: [402, 404, 409, 503],
          summary: 'Send a kept request again, billed as a completion',
        },
        (call, { id, body }) => replay(call, id, body),
      ),
    ],
    guard,
    { scope: 'completions', tag: 'Usage' },
  )
