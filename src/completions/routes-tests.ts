import type { Guard } from '../http/guard'
import type { OperatorEdge } from '../http/operator-edge'
import { resourceVerbs } from '../http/resource-verbs'
import { operatorRoutes, tenantRoutes, tenantVerb } from '../http/verbs'
import type { TestCases } from './test-cases'
import { TestRunAccepted, TestRunInput } from './test-cases-schema'

const verbsOf = ({ resource, run }: TestCases) =>
  [
    ...resourceVerbs(resource),
    tenantVerb(
      {
        method: 'post',
        path: '/test-cases/run',
        body: TestRunInput,
        reply: TestRunAccepted,
        accepts: true,
        errors: [402, 404, 503],
        summary: 'Run test cases on engines; each answer is billed as a completion',
      },
      (call, { body }) => run(call, body),
    ),
  ] as const

/** `/test-cases` (console 9.8), for tenants and operators. */
export const testCaseRoutes = (tests: TestCases, guard: Guard) =>
  tenantRoutes(verbsOf(tests), guard, { scope: 'completions', tag: 'Test cases' })

export const testCaseOperatorRoutes = (tests: TestCases, edge: OperatorEdge) => operatorRoutes(verbsOf(tests), edge)
