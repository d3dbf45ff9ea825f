import { loadServer } from './app/bundle'
import { untilSignal } from './kernel/signals'

// Heard from here on: loading takes a while.
const signals = untilSignal()
const { serve } = await loadServer()

await serve({}, signals)
