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
    'Sends the request that a client would send. The key comes from --key-file or SVC_API_KEY. Without either, it is the key in data/dev-key, which the first start created. The answer goes to stdout and everything about it to stderr. If no server runs, the command opens the data folder and runs the request itself.',
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
    file: { ...text('FILE', 'a file that contains the prompt; - reads stdin'), short: 'f' },
    mode: text('MODE', 'auto, fast, think, code, roast, genui, or another mode of GET /models'),
    skills: list('a,b', 'ids of installed skills to use'),
    stream: flag('print the answer as it arrives'),
  },
  async run(shell, { prompt, file, mode, skills, stream }) {
    const body: TryBody = {
      prompt: await promptOf(shell, prompt, file),
      ...(mode ? { mode } : {}),
      ...(skills ? { skills } : {}),
      ...(stream ? { stream } : {}),
    }
    if (shell.planned('send this prompt, and pay for its answer')) return
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
      shell.note(
        'No server is running, so this command ran the request itself. To make the call below, start one: svc-admin serve',
      )
    for (const line of sameCall(body, tenant.url ?? `http://${host}:${port}`, tenant.keySource)) shell.note(line)
  },
})

async function promptOf(shell: Shell, prompt: string | undefined, file: string | undefined): Promise<string> {
  if (prompt !== undefined && file !== undefined)
    throw usageFailure('try takes a prompt or a file, not both. Leave one out.')
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
