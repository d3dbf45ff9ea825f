import { t } from '../../kernel/schema'
import { defineGuardrail } from '../guardrail'

/** Names are compared as they are written: two tools may differ by a capital only. */
export const toolAllowlist = defineGuardrail({
  id: 'tool_allowlist',
  description: 'Calls of tools that are not on your list',
  phases: ['tool_call'],
  verdicts: ['block', 'flag'],
  config: t.Object(
    { tools: t.Array(t.String({ minLength: 1, maxLength: 128 }), { minItems: 1, maxItems: 200 }) },
    { additionalProperties: false },
  ),
  prepare({ tools }) {
    const allowed = new Set(tools)
    return (_, { tool }) =>
      tool && !allowed.has(tool.name) ? { detail: 'calls a tool that is not on the list', matches: [] } : null
  },
})
