CREATE TABLE `rate_counts` (
	`subject` text NOT NULL,
	`name` text NOT NULL,
	`node` text NOT NULL,
	`second` integer NOT NULL,
	`weight` integer NOT NULL,
	`apart` integer NOT NULL,
	PRIMARY KEY(`subject`, `name`, `node`, `second`)
);
--> statement-breakpoint
CREATE INDEX `rate_counts_by_second` ON `rate_counts` (`second`);