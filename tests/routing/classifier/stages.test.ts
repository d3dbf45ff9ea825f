import { describe, expect, test } from 'bun:test'
import { createClassifier, type EngineClassifier, type Guidance, type Rule } from '../../../src/routing'
import { TEXT_MODES } from '../../../src/routing/classifier'
import { PROMPT_SLOTS } from '../../../src/text'
import type { Model } from '../../../src/text/model'

/** A model that takes everything for one mode, as sure as told. */
function modelOf(mode: (typeof TEXT_MODES)[number], confidence: number): Model {
  const others = Math.log((1 - confidence) / (TEXT_MODES.length - 1))
  const bias = Float64Array.from(TEXT_MODES, (one) => (one === mode ? Math.log(confidence) : others))
  return { rows: new Int8Array(PROMPT_SLOTS * TEXT_MODES.length), bias, scale: 1, sharpness: 1 }
}

const guidance = (some: Partial<Guidance> = {}): Guidance => ({
  preferenceId: null,
  rules: [],
  floors: {},
  examples: [],
  ...some,
})
const rule = (mode: string, confidence: number, pattern = /./): Rule => ({
  mode,
  confidence,
  engine: null,
  reasoning: `rule for ${mode}`,
  preferenceId: null,
  pattern: pattern.source,
  matches: (prompt) => pattern.test(prompt),
})
const unclear = { mode: 'auto', prompt: 'one two three', hasImages: false }
const signal = new AbortController().signal

const engineSaying = (opinion: Awaited<ReturnType<EngineClassifier['opinion']>>) => {
  const prompts: string[] = []
  const engine: EngineClassifier = {
    available: () => true,
    async opinion(prompt) {
      prompts.push(prompt)
      return opinion
    },
  }
  return { engine, prompts }
}

describe('the local model', () => {
  test.each([
    ['code', 0.9, {}, 'code', 'local'],
    ['code', 0.84, {}, 'fast', 'default'],
    ['code', 0.6, { code: 0.55 }, 'code', 'local'],
    ['code', 0.9, { code: 0.95 }, 'fast', 'default'],
    ['code', 0.6, { image: 0.5 }, 'fast', 'default'],
    ['code', 0.45, { code: 0.1 }, 'fast', 'default'],
    ['code', 0.995, { code: 7 }, 'code', 'local'],
    ['code', 0.9, { code: Number.NaN }, 'code', 'local'],
    ['fast', 0.9, {}, 'fast', 'local'],
  ] as const)('sure of %s by %p with floors %j gives %s by %s', (mode, sure, floors, chosen, source) => {
    const { decide } = createClassifier({ load: () => modelOf(mode, sure) })
    expect(decide({ ...unclear, guidance: guidance({ floors }) })).toMatchObject({ mode: chosen, source })
  })

  test('says what it leaned to when the floor decides', () => {
    expect(createClassifier({ load: () => modelOf('code', 0.7) }).decide(unclear)).toEqual({
      mode: 'fast',
      source: 'default',
      confidence: null,
      engine: null,
      preferenceId: null,
      reasoning: 'most likely code, but 0.70 is below the floor of 0.85',
    })
  })

  test('is read once, and only when no earlier stage decides', () => {
    let loads = 0
    const load = () => {
      loads++
      return modelOf('code', 0.9)
    }
    const { decide } = createClassifier({ load })
    decide({ ...unclear, mode: 'think' })
    decide({ ...unclear, prompt: 'Draw a cat' })
    expect(loads).toBe(0)
    decide(unclear)
    decide(unclear)
    expect(loads).toBe(1)
  })
})

describe('rules', () => {
  const { decide } = createClassifier({ load: () => modelOf('code', 0.99) })

  test.each([
    ['the first that matches', [rule('think', 0.9, /nine/), rule('image', 0.9), rule('video', 0.9)], {}, 'image'],
    ['one below its floor is passed over', [rule('image', 0.8), rule('video', 0.9)], {}, 'video'],
    ['a lower floor lets it in', [rule('image', 0.8), rule('video', 0.9)], { image: 0.8 }, 'image'],
    ['a higher floor keeps it out', [rule('image', 0.9), rule('video', 0.9)], { image: 0.95 }, 'video'],
  ])('%s', (_, rules, floors, mode) => {
    expect(decide({ ...unclear, guidance: guidance({ rules, floors }) })).toMatchObject({ mode, source: 'rule' })
  })

  test('come before clear signals, and may name an engine', () => {
    const rules = [{ ...rule('think', 0.9), engine: 'svc-1-code' }]
    expect(decide({ ...unclear, prompt: 'Draw a cat', guidance: guidance({ rules }) })).toEqual({
      mode: 'think',
      source: 'rule',
      confidence: 0.9,
      reasoning: 'rule for think',
      engine: 'svc-1-code',
      preferenceId: null,
    })
  })

  test('do not touch a mode that was asked for', () => {
    const choice = decide({ ...unclear, mode: 'roast', guidance: guidance({ rules: [rule('image', 0.9)] }) })
    expect(choice).toMatchObject({ mode: 'roast', source: 'explicit' })
  })

  test('a signal below an overridden floor does not fire', () => {
    const choice = decide({ ...unclear, prompt: 'Draw a cat', guidance: guidance({ floors: { image: 0.99 } }) })
    expect(choice).toMatchObject({ mode: 'code', source: 'local' })
  })
})

describe('the engine', () => {
  const load = () => modelOf('code', 0.7)

  test.each([
    [{ mode: 'image', confidence: 0.9 } as const, {}, 'image', 'classifier'],
    [{ mode: 'image', confidence: 0.8 } as const, {}, 'fast', 'default'],
    [{ mode: 'image', confidence: 0.6 } as const, { image: 0.5 }, 'image', 'classifier'],
    [null, {}, 'fast', 'default'],
  ])('saying %j with floors %j gives %s by %s', async (opinion, floors, mode, source) => {
    const { engine } = engineSaying(opinion)
    const { decide } = createClassifier({ load, engine })
    expect(await decide({ ...unclear, signal, guidance: guidance({ floors }) })).toMatchObject({ mode, source })
  })

  test.each([
    ['a mode was asked for', { ...unclear, mode: 'code', signal }, 0.7],
    ['a signal is clear', { ...unclear, prompt: 'Draw a cat', signal }, 0.7],
    ['the local model is sure', { ...unclear, signal }, 0.9],
    ['the caller does not wait', unclear, 0.7],
  ])('is not asked when %s, and the choice is there at once', (_, ask, sure) => {
    const { engine, prompts } = engineSaying({ mode: 'image', confidence: 1 })
    expect(createClassifier({ load: () => modelOf('code', sure), engine }).decide(ask)).not.toBeInstanceOf(Promise)
    expect(prompts).toEqual([])
  })

  test('is not asked when there is only the built-in one', () => {
    const { engine, prompts } = engineSaying(null)
    const { decide } = createClassifier({ load, engine: { ...engine, available: () => false } })
    expect(decide({ ...unclear, signal })).toMatchObject({ mode: 'fast', source: 'default' })
    expect(prompts).toEqual([])
  })
})

describe('a mode that no engine is connected for', () => {
  const answers = (...modes: string[]) => ({ answers: (mode: string) => modes.includes(mode) })
  const load = () => modelOf('video', 0.9)

  test('is not applied to a prompt that was only guessed to want it', () => {
    const { decide } = createClassifier({ load })
    expect(decide({ ...unclear, ...answers('fast', 'video') })).toMatchObject({ mode: 'video', source: 'local' })
    expect(decide({ ...unclear, ...answers('fast', 'think') })).toEqual({
      mode: 'fast',
      source: 'default',
      confidence: null,
      engine: null,
      preferenceId: null,
      reasoning: 'most likely video (0.90), but no engine for it is connected',
    })
    expect(decide({ ...unclear, ...answers('think', 'code') })).toMatchObject({ mode: 'think', source: 'default' })
    expect(decide({ ...unclear, ...answers() })).toMatchObject({ mode: 'fast', source: 'default' })
  })

  test('is not what the engine is followed in either', async () => {
    const { engine } = engineSaying({ mode: 'image', confidence: 0.95 })
    const { decide } = createClassifier({ load: () => modelOf('code', 0.7), engine })
    const choice = await decide({ ...unclear, signal, ...answers('fast', 'code') })
    expect(choice).toMatchObject({ mode: 'fast', source: 'default' })
    expect(choice.reasoning).toBe('most likely image (0.95), but no engine for it is connected')
  })

  test('is what a caller asked for, by name or by a rule', () => {
    const { decide } = createClassifier({ load })
    const ruled = guidance({ rules: [rule('image', 0.9)] })
    expect(decide({ ...unclear, mode: 'video', ...answers('fast') })).toMatchObject({ mode: 'video' })
    expect(decide({ ...unclear, guidance: ruled, ...answers('fast') })).toMatchObject({ mode: 'image', source: 'rule' })
  })
})
