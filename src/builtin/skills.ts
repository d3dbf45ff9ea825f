import { fromFindings } from './acting/findings'
import { arithmetic } from './arithmetic'
import { code } from './code'
import { dates } from './dates'
import { extract } from './entities'
import { genui } from './genui'
import { imageFacts } from './image-facts'
import { greet, identity, noModel } from './no-model'
import { MAX_READ_CHARS, type Question, type Skill } from './question'
import { count, echo } from './repeat'
import { retrieve } from './retrieval'
import { structured } from './structured'
import { summarise } from './summarise'
import { transforms } from './transforms'
import { units } from './units'

/** Longer prompts are not sums, dates or greetings, and the patterns for those would be slow on them. */
const SHORT_CHARS = 400

const whenShort =
  (skill: Skill): Skill =>
  (question) =>
    question.prompt.length <= SHORT_CHARS ? skill(question) : null

/** In the order they are tried: tool results, skills of a mode, exact answers, then skills that only quote. */
const SKILLS: readonly Skill[] = [
  fromFindings,
  structured,
  imageFacts,
  genui,
  code,
  ...[identity, greet, count, arithmetic, units, dates].map(whenShort),
  summarise,
  extract,
  transforms,
  whenShort(echo),
  retrieve,
]

const CUT = `(Only the first ${MAX_READ_CHARS.toLocaleString('en')} characters were read.)`

/** The answer of the first skill that has one, else the statement that a language model is needed. */
export function answerQuestion(question: Question): string {
  for (const skill of SKILLS) {
    const answer = skill(question)?.trim()
    if (answer) return question.cut && skill !== structured ? `${answer}\n\n${CUT}` : answer
  }
  return noModel(question)
}
