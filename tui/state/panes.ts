import type { Model, Screen } from './model'

/** The parts of a screen that Tab goes through; the first is the list. A name that is a screen is opened by Enter. */
export function panesOf({ screen, columns }: Model): readonly string[] {
  if (screen === 'overview') return columns >= 120 ? ['needs', 'jobs', 'deliveries', 'browser'] : ['needs']
  if (screen === 'takeovers') return ['queue', 'chat']
  return ['list', 'details']
}

export const paneOf = (model: Model): string => panesOf(model)[model.pane] ?? panesOf(model)[0]!

/** The screen that a pane of the overview stands for; null for the list of what needs a person. */
export const screenOfPane = (model: Model): Screen | null =>
  model.screen === 'overview' && model.pane > 0 ? (paneOf(model) as Screen) : null
