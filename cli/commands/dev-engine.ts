import { loadConfig } from '../../src/app/config'
import { changeSettings } from '../change-settings'
import { defineCommand } from '../command'
import { BadWord } from '../failure'
import { column } from '../output/columns'
import { overridesOf } from '../overrides'
import { notForProduction } from '../seed/dev-only'
import { duration, flag, text, whole } from '../words'

const columns = [
  column('latency_ms', 'WAITS MS', { kind: 'number' }),
  column('fail_rate', 'FAILS', { kind: 'number' }),
  column('chunk', 'WORDS A PART', { kind: 'number' }),
]

const share = {
  ...text('SHARE', 'share of calls that fail, from 0 to 1'),
  read: (word: string): string => {
    const part = Number(word)
    if (word.trim() !== '' && part >= 0 && part <= 1) return word
    throw new BadWord(`is "${word}"; it must be from 0 to 1`)
  },
}

export const devEngine = defineCommand({
  path: 'dev engine',
  summary: 'Make the built-in engine slow or failing, for tests',
  about:
    'Writes the settings to svc.server.json; a running server uses them after a restart. Without a flag it shows the current ones. --calm removes all of them. A call that fails is retried once before the caller gets an error.',
  examples: ['dev engine --latency 2s --fail-rate 0.3', 'dev engine --chunk 5', 'dev engine --calm'],
  apis: ['host'],
  impact: 'write',
  exits: [5],
  columns,
  flags: {
    latency: duration('2s', 'how long to wait before an answer'),
    failRate: share,
    chunk: whole('N', 'words in each part of a stream', { min: 1, max: 10_000 }),
    calm: flag('back to the default'),
  },
  async run(shell, { latency, failRate, chunk, calm }) {
    if (loadConfig(overridesOf(shell)).production) throw notForProduction('dev engine')
    const given = {
      builtinDelayMs: latency === undefined ? undefined : Math.round(latency),
      builtinFailRate: failRate === undefined ? undefined : Number(failRate),
      builtinChunk: chunk,
    }
    const set = Object.entries(given).filter(([, value]) => value !== undefined)
    if (calm || set.length) {
      const path = await changeSettings(shell, calm ? { ...given } : Object.fromEntries(set))
      if (path === null) return
      shell.note(`Written to ${path}. Restart the server to use it.`)
    }
    const { builtinDelayMs, builtinFailRate, builtinChunk } = loadConfig(overridesOf(shell))
    shell.print.item({ latency_ms: builtinDelayMs, fail_rate: builtinFailRate, chunk: builtinChunk }, columns)
  },
})
