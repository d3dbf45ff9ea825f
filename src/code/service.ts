import { type EngineService, type Message, originOf } from '../engines'
import type { About } from '../files/schema'
import type { Call } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { storable } from '../kernel/text'
import { type MakingService, promptIn, type Work } from '../making'
import { type CodeBlock, codeBlocks } from './blocks'
import { kindOf } from './languages'
import { checksOf, isProject, zipOf } from './project'
import { type CodeCheck, CodeId, type CodeOrder, type MadeCode } from './schema'

type Deps = {
  clock: Clock
  engines: Pick<EngineService, 'answer' | 'countPrompt' | 'describe' | 'forMode' | 'isFree' | 'maxOutputTokens'>
  making: Pick<MakingService, 'run'>
}

export type CodeService = ReturnType<typeof createCode>

/** Most tokens of an answer; some 800 lines. */
const MOST_TOKENS = 8_192

const INSTRUCTIONS = [
  'You write code. Put every file into a fenced block of its own whose first line has the language and the path, as in',
  '```ts src/index.ts. Write files whole, so that they run as they are, with what they import declared in the usual file',
  'of the language. Say in a few sentences what was made and how to run it. Never invent libraries.',
].join('\n')

/** Code: written by an engine, kept as files, and checked by parsers (contract 6). */
export function createCode({ clock, engines, making }: Deps) {
  return { create }

  /** Writes code for a prompt. Throws 400 `missing_prompt`, 503 `engine_unavailable`, and what a making throws. */
  function create(call: Call, order: CodeOrder): Promise<MadeCode> {
    const id = CodeId.create()
    const engineId = engines.forMode('code')
    const texts = textsOf(order)
    const promptTokens = engines.countPrompt(messagesFor(texts))
    const completionTokens = Math.min(MOST_TOKENS, engines.maxOutputTokens(engineId))
    return making.run(call, {
      kind: 'code',
      id,
      mode: 'code',
      engineId,
      free: engines.isFree(engineId),
      texts,
      most: { promptTokens, completionTokens },
      make: async (work) => {
        const written = await engines.answer(engineId, {
          messages: messagesFor(work.texts),
          mode: 'code',
          maxOutputTokens: completionTokens,
          origin: originOf(work.call),
          signal: work.signal,
        })
        const { text: content } = await work.guardOutput(storable(written.text), INSTRUCTIONS)
        const blocks = codeBlocks(content)
        const { promptTokens, completionTokens: said } = written.usage
        return {
          used: { promptTokens, completionTokens: said },
          engineId: written.engineId,
          free: written.free,
          files: await filesOf(work, blocks, { engineId: written.engineId, prompt: work.texts.prompt! }),
          content,
          checks: checksOf(blocks),
        }
      },
      answer: ({ made, artifacts, costCents, at }) => {
        const { promptTokens, completionTokens } = made.used
        return {
          id,
          object: 'code' as const,
          created: iso(at),
          content: made.content,
          artifacts,
          tools_used: toolsOf(made.checks),
          checks: made.checks,
          usage: {
            cost_cents: costCents,
            prompt_tokens: promptTokens,
            completion_tokens: completionTokens,
            total_tokens: promptTokens + completionTokens,
          },
        }
      },
    })
  }

  async function filesOf(work: Work, blocks: readonly CodeBlock[], by: { engineId: string; prompt: string }) {
    const { engine, id: model } = engines.describe(by.engineId)
    const maker = { engine, model, prompt: by.prompt }
    const files = []
    for (const { path, language, content } of blocks) {
      const { mimeType } = kindOf(language)
      const about: About = { type: 'code', filename: path, title: path, content, language: language || null, ...maker }
      files.push({ draft: await work.keep(new TextEncoder().encode(content), mimeType), about })
    }
    if (isProject(blocks)) {
      const about: About = { type: 'file', filename: 'project.zip', title: 'project.zip', ...maker }
      files.push({ draft: await work.keep(zipOf(blocks, clock.now()), 'application/zip'), about })
    }
    return files
  }
}

function textsOf(order: CodeOrder): Record<string, string> {
  const { language, framework } = order
  return {
    prompt: storable(promptIn(order)),
    ...(language?.trim() ? { language: storable(language) } : {}),
    ...(framework?.trim() ? { framework: storable(framework) } : {}),
  }
}

function messagesFor({ prompt = '', language, framework }: Readonly<Record<string, string>>): Message[] {
  const hints = [language ? `Language: ${language}` : '', framework ? `Framework: ${framework}` : ''].filter(Boolean)
  return [
    { role: 'system', content: INSTRUCTIONS },
    { role: 'user', content: [prompt, ...(hints.length ? [hints.join('\n')] : [])].join('\n\n') },
  ]
}

/** The check counts as a tool when something could be checked. */
function toolsOf(checks: readonly CodeCheck[]): MadeCode['tools_used'] {
  const checked = checks.filter(({ status }) => status !== 'unchecked')
  if (!checked.length) return []
  return [{ name: 'syntax_check', status: checked.every(({ status }) => status === 'ok') ? 'success' : 'error' }]
}
