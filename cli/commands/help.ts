import type { Setting } from '../../src/kernel/config'
import { didYouMean } from '../../src/kernel/nearest'
import { ERROR_PAGES } from '../../src/reference/schema'
import { defineCommand, type Flag } from '../command'
import { EXIT_MEANINGS } from '../exit'
import { usageFailure } from '../failure'
import { GLOBAL_FLAGS } from '../globals'
import { helpFor, rows } from '../help'
import { kebab } from '../program'
import type { Shell } from '../shell'
import { TOPIC_PAGES } from '../topics'
import { optional } from '../words'
import { MANIFEST_PAGE } from './manifest-page'

const TOPICS = ['environment', 'exit-codes', 'error', 'manifest', ...Object.keys(TOPIC_PAGES)] as const

export const help = defineCommand({
  path: 'help',
  summary: 'Explain a command, a topic or an error code',
  about: `Topics: ${TOPICS.join(', ')}. The error topic takes a code; manifest prints a skill to start from.`,
  examples: ['help exit-codes', 'help error insufficient_credits', 'help keys create'],
  apis: ['host'],
  impact: 'read',
  args: { topic: optional('a topic, a noun or a command'), word: optional("the command's verb, or an error code") },
  async run(shell, { topic, word }) {
    if (topic === 'exit-codes') return exitCodes(shell)
    if (topic === 'environment') return environment(shell)
    if (topic === 'error') return errorPage(shell, word)
    if (topic && Object.hasOwn(TOPIC_PAGES, topic)) return shell.io.out(TOPIC_PAGES[topic]!)
    if (topic === 'manifest') return shell.io.out(MANIFEST_PAGE)
    const known = shell.commands.some(({ path }) => path.split(' ')[0] === topic)
    if (topic && !known)
      throw usageFailure(`There is no topic "${topic}".${didYouMean(topic, TOPICS)}`, 'svc-admin help')
    shell.io.out(
      helpFor(
        [topic, word].filter((one) => one !== undefined),
        shell.commands,
      ),
    )
  },
})

function exitCodes({ io }: Shell): void {
  for (const line of rows(Object.entries(EXIT_MEANINGS))) io.out(line.trimStart().padStart(line.length - 2))
}

async function environment({ io }: Shell): Promise<void> {
  const own = Object.entries<Flag>(GLOBAL_FLAGS).flatMap(([name, { env }]) =>
    env ? [[env, `the same as --${kebab(name)}`] as const] : [],
  )
  io.out('Read by svc-admin:')
  for (const line of rows([...own, ['NO_COLOR, FORCE_COLOR', 'colour off, colour on'], ['CI', 'never ask']]))
    io.out(line)
  const { SETTINGS } = await import('../../src/app/config')
  io.out('')
  io.out('Read by the server (svc-admin config list shows their values):')
  for (const line of rows(Object.values<Setting>(SETTINGS).map(({ env, about }) => [env, about]))) io.out(line)
}

function errorPage({ io }: Shell, code: string | undefined): void {
  const codes = Object.keys(ERROR_PAGES)
  if (code === undefined) {
    for (const line of rows(codes.map((one) => [one, ERROR_PAGES[one]!.meaning]))) io.out(line)
    return
  }
  const page = ERROR_PAGES[code]
  if (!page) throw usageFailure(`There is no error code "${code}".${didYouMean(code, codes)}`, 'svc-admin help error')
  const lines = [
    ['code', code],
    ['status', String(page.status)],
    ['means', page.meaning],
    ['fix', page.operator ?? page.cure],
    ['retry', page.retry],
  ] as const
  for (const line of rows(lines)) io.out(line.slice(2))
}
