import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readKeywords, readPrompt } from '../../src/skills/runtime/keywords'
import { createKnowledge } from '../../src/skills/runtime/knowledge'
import { createRanking } from '../../src/skills/runtime/ranking'
import { contentWords } from '../../src/text/words'
import { effortOf } from '../support/effort'
import { createWorld } from '../support/world'
import { manifest, submit } from './support'

describe('the ranking of passages', () => {
  /** The formula as it is written in books, a text at a time. */
  function plainly(texts: readonly string[], asked: readonly string[]) {
    const split = texts.map(contentWords)
    const mean = split.reduce((sum, { length }) => sum + length, 0) / texts.length || 1
    return split
      .map((words, place) => {
        const score = asked.reduce((sum, word) => {
          const count = words.filter((one) => one === word).length
          const holders = split.filter((some) => some.includes(word)).length
          if (!count) return sum
          const rarity = Math.log(1 + (texts.length - holders + 0.5) / (holders + 0.5))
          return sum + rarity * (0.5 + (count * 2.2) / (count + 1.2 * (0.3 + (0.7 * words.length) / mean)))
        }, 0)
        return { place, score }
      })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || a.place - b.place)
  }

  test('is that of the formula', () => {
    const word = fc.constantFrom('tide', 'ship', 'port', 'moon', 'constructor', '__proto__', 'rope')
    const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 12 }),
        fc.uniqueArray(word),
        fc.nat(6),
        (texts, asked, most) => {
          const wanted = plainly(texts, asked).slice(0, most)
          const found = createRanking(texts)(asked, most)
          expect(found.map(({ score }) => score.toFixed(9))).toEqual(wanted.map(({ score }) => score.toFixed(9)))
        },
      ),
    )
  })

  test.each([
    ['one long word', 'a'.repeat(100_000)],
    ['letters and breaks', 'a\n\n'.repeat(33_000)],
    ['nothing but blanks', ' \n'.repeat(50_000)],
    ['bytes that are no text', '\u0001\u0002\ufffd'.repeat(30_000)],
  ])('takes files of %s', (_, text) => {
    const find = createKnowledge({ knowledgeFiles: { 'a.md': text, 'b.md': 'The tide turns at noon.' } })!
    expect(find(['tide'], 4).map(({ path }) => path)).toEqual(['b.md'])
  })
})

describe('keywords', () => {
  test.each([
    ['mail', 'an email', false],
    ['mail', 'MAIL!', true],
    ['C++', 'write C++ code', true],
    ['C++', 'write C code', false],
    ['e-mail', 'send an E-Mail', true],
    ['e-mail', 'send an e mail', false],
    ['???', 'what ???', true],
    ['größe', 'Welche GRÖSSE, welche Größe?', true],
    ['two words', 'words two', false],
    ['two words', 'my two words.', true],
    [' ', 'any thing . at all', false],
  ])('%p in %p: %p', (keyword, prompt, occurs) => {
    expect(readKeywords([keyword]).occurIn(readPrompt(prompt))).toBe(occurs)
  })

  test('that are many and nearly occur cost no more than reading the prompt', async () => {
    const storms = Array.from({ length: 60 }, (_, skill) =>
      readKeywords(Array.from({ length: 50 }, (_, at) => `${'a'.repeat(100)}${skill}x${at}`)),
    )
    const prompt = `${'a'.repeat(99)} `.repeat(1_000)
    const effort = await effortOf(() => {
      const asked = readPrompt(prompt)
      for (const storm of storms) expect(storm.occurIn(asked)).toBe(false)
    }, 2)
    expect(effort).toBeLessThan(200)
  })
})

describe('of many skills', () => {
  test('those a request names take part, and what is left out is said', async () => {
    const world = await createWorld()
    const ada = await world.person()
    const names: string[] = []
    for (let at = 0; at < 43; at++) {
      const author = await world.person()
      const { skillId, slug } = await submit(author, manifest({ systemPromptExtension: `Say ${at} kindly.` }))
      names.push(slug)
      if (at < 42) await ada.send('POST', 'skills', { skillId })
    }
    const last = names.at(-1)!
    const { activeFor } = world.app.container.skills
    const { skills, warnings } = await activeFor(world.callAs(ada), { slugs: [last, names[41]!], prompt: 'hi' })
    const slugs = skills.map(({ slug }) => slug)
    expect(slugs).toHaveLength(40)
    expect(slugs.slice(-2)).toEqual([names[41]!, last])
    expect(warnings).toEqual(['At most 40 skills take part in a run: 3 of those installed were left out.'])
  })
})
