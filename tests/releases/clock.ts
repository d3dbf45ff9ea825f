/** Loaded before a server, to set its wall clock: `SVC_TEST_CLOCK_MS` milliseconds ahead, or behind when below zero. */
const ahead = Number(process.env.SVC_TEST_CLOCK_MS)
const now = Date.now.bind(Date)
Date.now = () => now() + ahead
