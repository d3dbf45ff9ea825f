import type { Findings } from '../../research'
import type { AgentResult, ToolUse } from '../agent-schema'
import type { Run } from '../run'

/** How a research within a request stands among the tools that were used. */
export function researchUse(run: Run, { pages, citations }: Findings): ToolUse {
  return {
    id: run.id,
    name: 'deep_research',
    status: 'success',
    description: `read ${pages} pages`,
    arguments: { question: run.request.prompt.slice(0, 4_000), max_sources: run.researchRun?.maxSources },
    result: { citations },
  }
}

/** What the policy took out of a report is not told by its citations either: they lose their words, or go as it does. */
export function unquoted(run: Run, result: AgentResult, { isWithheld }: { isWithheld: boolean }): AgentResult {
  const quiet = (use: ToolUse): ToolUse => {
    if (use.id !== run.id) return use
    const { citations } = use.result as { citations: Findings['citations'] }
    return { ...use, result: { citations: isWithheld ? [] : citations.map((one) => ({ ...one, snippet: '' })) } }
  }
  return { ...result, toolUses: result.toolUses.map(quiet) }
}
