import { readFileSync } from 'node:fs'
import { clean } from '../../src/kernel/text'
import { defineCommand } from '../command'
import type { TenantApi } from '../connection'
import { expectData, unreadable, usageFailure } from '../failure'
import { formatOf } from '../globals'
import { column } from '../output/columns'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { flag, list, optional, text } from '../words'
import { type Answer, sameCall, summaryOf, type TryBody } from './try-words'

export const tryPrompt = defineCommand({
  path: 'try',
  summary: 'Send one prompt and print the answer, its cost and the same call as curl',
  about:
    'Sends the request that a client would send. The key comes from --key-file or SVC_API_KEY, otherwise from data/dev-key, where the first run left it. The answer goes to stdout, everything about it to stderr. Without a running server it opens the data folder, runs the same request there, and says so.',
  examples: ['try "Count to five slowly"', 'try "Count to five" --stream', 'try -f question.txt --mode think --json'],
  apis: ['operator', 'tenant'],
  impact: 'write',
  exits: [3, 6],
  columns: [
    column('id', 'ID'),
    column('content', 'ANSWER'),
    column('resolved_mode', 'MODE'),
    column('request_id', 'REQUEST'),
  ],
  args: { prompt: optional('what to ask') },
  flags: {
    file: { ...text('FILE', 'a file that holds the prompt; - is stdin'), short: 'f' },
    mode: text('MODE', 'auto, fast, think, code, roast, genui, and the others of GET /models'),
    skills: list('a,b', 'ids of skills to use, installed ones'),
    stream: flag('print the answer as it arrives'),
  },
  async run(shell, { prompt, file, mode, skills, stream }) {
    const body: TryBody = {
      prompt: await promptOf(shell, prompt, file),
      ...(mode ? { mode } : {}),
      ...(skills ? { skills } : {}),
      ...(stream ? { stream } : {}),
    }
    if (shell.planned('send this prompt, which costs what its answer costs')) return
    const connection = await shell.connect()
    const tenant = await connection.tenant()
    const began = shell.clock.monotonic()
    const ask = stream ? (await import('./try-stream')).streamAnswer : wholeAnswer
    const answer = await ask(shell, tenant, body)
    const ms = Math.round(shell.clock.monotonic() - began)
    const { host, port } = connection.config
    for (const line of summaryOf(answer, ms)) shell.note(line)
    shell.note('')
    if (connection.transport.kind === 'local')
      shell.note('No server runs: this command ran the request itself. For the call below start one: svc-admin serve')
    for (const line of sameCall(body, tenant.url ?? `http://${host}:${port}`, tenant.keySource)) shell.note(line)
  },
})

async function promptOf(shell: Shell, prompt: string | undefined, file: string | undefined): Promise<string> {
  if (prompt !== undefined && file !== undefined) throw usageFailure('try got a prompt and a file. Leave one out.')
  if (prompt !== undefined) return prompt
  if (file === undefined) throw usageFailure('try needs a PROMPT.', 'svc-admin try "Count to five slowly"')
  if (file === '-') return shell.io.readStdin()
  try {
    return readFileSync(fromHere(shell.cwd, file), 'utf8')
  } catch (error) {
    throw unreadable(file, error)
  }
}

async function wholeAnswer(shell: Shell, { client }: TenantApi, body: TryBody): Promise<Answer> {
  const reply = await client.completions.post(body as Parameters<typeof client.completions.post>[0])
  const answer = expectData(reply) as unknown as Answer
  if (['table', 'wide'].includes(formatOf(shell.globals))) shell.io.out(clean(answer.content))
  else shell.print.item(answer, tryPrompt.columns!)
  return answer
}
