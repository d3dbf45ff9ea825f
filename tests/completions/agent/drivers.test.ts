import { afterAll } from 'bun:test'
import type { EngineSettings } from '../../../src/engines'
import { long, NO_ENGINES, openEngines } from '../../engines/setup'
import { type Lines, toolsSuite } from '../../suites/tools.suite'
import { startUpstream } from '../../support/upstream'
import { chatDialect } from '../../support/upstream/dialect'
import { generateDialect, messagesDialect, responsesDialect } from '../../support/upstream/vendors'

/** A scripted engine does as it is told, wrong things too. */
const SCRIPTED: Lines = {
  once: '[[plan:look_up{"topic":"tides"}]] [[say:FOUND tides]]',
  twice: '[[plan:look_up{"topic":"tides"};look_up{"topic":"winds"}]]',
  failing: '[[plan:borrow_book{"topic":"tides"}]]',
  long: '[[plan:print_chapter{"topic":"tides"}]] [[say:FOUND tides]]',
  waiting: '[[plan:await_delivery{"topic":"tides"}]]',
  badArguments: '[[plan:look_up{"topic":5}|look_up{"topic":"tides"}]] [[say:FOUND tides]]',
  unknown: '[[plan:look_down{}]] [[say:FOUND tides]]',
  endless: '[[plan:look_up{"topic":"tides"}]] [[always]]',
}

/** The built-in engine does what it is asked, as far as it understands. */
const REQUEST: Lines = {
  once: 'Look up tides',
  twice: 'Look up tides and look up winds',
  failing: 'Borrow a book on tides',
  long: 'Print the chapter on tides',
  waiting: 'Await the delivery of tides',
}

/** Tokens: less than one long result. */
const SMALL_WINDOW = 3_000

const DIALECTS = { compat: chatDialect, anthropic: messagesDialect, google: generateDialect, openai: responsesDialect }

for (const [kind, dialect] of Object.entries(DIALECTS)) {
  const upstream = await startUpstream({ dialect })
  afterAll(() => upstream.stop())
  const { engines: config } = long({ up: upstream }, { 'svc-1-flash': ['up:scripted'] })
  Object.assign(config.upstreams.up!, { kind, contextWindow: SMALL_WINDOW })
  const settings: EngineSettings = { ...long({}, {}), engines: config }
  toolsSuite(kind, { engines: openEngines(settings).engines, lines: SCRIPTED, upstream })
}

toolsSuite('builtin', { engines: openEngines(NO_ENGINES).engines, lines: REQUEST })
