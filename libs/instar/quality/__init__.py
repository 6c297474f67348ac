"""Gates: Great Expectations suites that decide, and the pages that show why."""
