import { arithmetic } from './arithmetic'
import { code } from './code'
import { dates } from './dates'
import { extract } from './entities'
import { genui } from './genui'
import { imageFacts } from './image-facts'
import { identity, noModel } from './no-model'
import type { Question, Skill } from './question'
import { retrieve } from './retrieval'
import { roast } from './roast'
import { count, echo, greet } from './small-talk'
import { structured } from './structured'
import { summarise } from './summarise'
import { transforms } from './transforms'
import { units } from './units'

/** In the order of asking: what the mode demands, then the certain, then what only quotes. */
const SKILLS: readonly Skill[] = [
  structured,
  imageFacts,
  genui,
  code,
  roast,
  identity,
  greet,
  count,
  arithmetic,
  units,
  dates,
  summarise,
  extract,
  transforms,
  echo,
  retrieve,
]

/** The first skill that can, else the plain statement that a language model is needed. */
export function answerQuestion(question: Question): string {
  for (const skill of SKILLS) {
    const answer = skill(question)?.trim()
    if (answer) return answer
  }
  return noModel(question)
}
