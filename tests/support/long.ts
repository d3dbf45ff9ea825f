/**
 * Whether this is `bun run test:long`, which proves with more rounds what the test command proves with few. A file that
 * imports this runs there on both databases.
 */
export const isLong = process.env.TEST_LONG === '1'
