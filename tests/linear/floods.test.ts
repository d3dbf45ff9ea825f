import { expect, test } from 'bun:test'
import { answerQuestion } from '../../src/engines/builtin/client'
import { type Question, readQuestion } from '../../src/engines/builtin/question'
import { fencedParts } from '../../src/kernel/fence'
import { clean, scrub, withoutUserInfo, wrap } from '../../src/kernel/text'
import { codeBlocks } from '../../src/media/code'
import { outlineOf } from '../../src/media/documents/outline'
import { readPrompt } from '../../src/media/scenes/read'
import { passagesOf } from '../../src/research/passages'
import { planFor } from '../../src/research/plan'
import { readWritten } from '../../src/research/write-engine'
import {
  attackChance,
  base64Runs,
  centralSentences,
  decodedPieces,
  ENTITIES,
  findSecrets,
  isSecretName,
  languageOf,
  meetingsIn,
  personalDataFinder,
  placeholdersOf,
  promptFeaturesOf,
  readable,
  readBrowsing,
  safetyOf,
  scanForInjection,
  sentencesOf,
  urlsBut,
  vendorNamedIn,
} from '../../src/text'
import { floods, linearPass } from './floods'
import { timed } from './timed'

/**
 * How many times longer than finding the words of a text of that length a call may take; quadratic time is
 * many hundreds.
 */
const MAX_PASSES = 150

type Subject = { name: string; read: (text: string) => unknown; after?: readonly string[] }

const answered = (more: Partial<Question>) => (prompt: string) => {
  const request = { mode: more.mode ?? 'fast', messages: [{ role: 'user' as const, content: prompt }] }
  return answerQuestion({ ...readQuestion({ ...request, signal: AbortSignal.abort() } as never, 0), ...more })
}

/** What a reader refuses with an error has been read too. */
const attempt = (read: () => unknown): unknown => {
  try {
    return read()
  } catch (error) {
    return error
  }
}

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer' },
    mails: { type: 'array', items: { type: 'string', format: 'email' } },
    tags: { type: 'array', items: { type: 'string' } },
    due: { type: 'string', format: 'date' },
    active: { type: 'boolean' },
    kind: { enum: ['large', 'small'] },
  },
}

const SUBJECTS: Subject[] = [
  {
    name: 'the built-in engine',
    read: answered({}),
    after: ['', 'please do this: ', 'write a list of', 'Reverse the word '],
  },
  { name: 'the built-in engine, any object', read: answered({ json: true }), after: ['', 'name: '] },
  { name: 'the built-in engine, a schema', read: answered({ json: SCHEMA }), after: ['', 'tags: '] },
  ...['genui', 'code', 'domain_analysis', 'data_extraction'].map((mode) => ({
    name: `the built-in engine, ${mode}`,
    read: answered({ mode }),
    after: ['a form with '],
  })),
  { name: 'documents', read: outlineOf, after: ['', 'a document about'] },
  { name: 'pictures', read: (text) => readPrompt(text, [], null), after: ['', 'a chart of'] },
  { name: 'blocks of code', read: codeBlocks, after: ['', '```'] },
  { name: 'the plan of a research', read: (text) => planFor(text, 'advanced'), after: ['', 'compare '] },
  { name: 'quotations of a page', read: passagesOf },
  {
    name: 'the report of an engine',
    read: (written) => readWritten({ plan: { title: '' }, written, notes: [], disagreements: [], read: 1 }),
  },
  { name: 'fenced data', read: fencedParts, after: ['[data 000000000000 from a; b]\n'] },
  { name: 'the names of secrets', read: (text) => isSecretName(text, text), after: ['token'] },
  { name: 'a template', read: (text) => attempt(() => placeholdersOf(text)) },
  { name: 'sentences', read: (text) => centralSentences(sentencesOf(text), 3) },
  { name: 'steps in a browser', read: readBrowsing, after: ['click '] },
  { name: 'a log line', read: (text) => [clean(text), scrub(text), withoutUserInfo(text), wrap(text, 80)] },
  { name: 'injections', read: (text) => [scanForInjection(text), meetingsIn(text), readable(text)] },
  { name: 'encoded words', read: (text) => [decodedPieces(text), [...base64Runs(text)]] },
  { name: 'secrets', read: findSecrets, after: ['', 'password: '] },
  { name: 'personal data', read: personalDataFinder([...ENTITIES]) },
  { name: 'addresses', read: (text) => urlsBut(text, () => false) },
  {
    name: 'the models',
    read: (text) => [promptFeaturesOf(text), attackChance(text), safetyOf(text), languageOf(text)],
  },
  { name: 'names of vendors', read: vendorNamedIn },
]

test.each(SUBJECTS)(
  'a flood of one character, or of one beginning, is read in time linear in it by: $name',
  ({ read, after = [''] }) => {
    const slow: string[] = []
    const usual = linearPass()
    for (const beginning of after) {
      for (const { name, text } of floods(beginning)) {
        if (timed(() => read(text)) < MAX_PASSES * usual) continue
        const passes = Math.min(...[1, 2, 3].map(() => timed(() => read(text)))) / linearPass()
        if (passes > MAX_PASSES) slow.push(`${name}: ${passes.toFixed(0)} passes`)
      }
    }
    expect(slow).toEqual([])
  },
  60_000,
)
