//! The versions of objects: one statement decides, under the write lock.

use std::time::Duration;

use rusqlite::{Row, params};

use crate::{
    clock::{micros, micros_after},
    order::{Advance, ObjectKey, OrderGuard, Version},
    store::{
        StoreError, StoreErrorKind, StoreFuture,
        sql::object::{FoundObject, FoundVersion},
    },
};

use super::{
    ImmediateTx, SqliteStore, closed,
    lane::Unwanted,
    verbs::{Verbs, moment},
};

/// Most rows that one transaction purges, so that others are never kept waiting for long.
const PURGE_STEP: usize = 500;

impl Verbs<'_> {
    fn find_object(&mut self, object: &ObjectKey) -> Result<Option<Version>, StoreError> {
        let find = self.find_object.on(self.connection)?;
        let mut rows = find.query(params![object.digest().as_slice()])?;
        let found = rows.next()?.map(found).transpose()?;
        found.map(|found| found.version_of(object)).transpose()
    }

    /// Only if the statement takes nothing is the row read, to say why.
    fn advance(&mut self, object: &ObjectKey, version: &Version) -> Result<Advance, StoreError> {
        let now = micros(moment(self.clock));
        let (kind, number) = version.code();
        let mut rows = self.advance.on(self.connection)?.query(params![
            object.digest().as_slice(),
            object.tenant(),
            object.kind(),
            object.id(),
            kind,
            number,
            version.tie(),
            version.is_deletion().then_some(now),
            now,
        ])?;
        if let Some(row) = rows.next()? {
            let previous = previous(row)?.map(FoundVersion::believed).transpose()?;
            return Ok(Advance::Applied { previous });
        }
        drop(rows);
        // The write lock is held, so this is the row that the statement above refused to change.
        match version.judge(self.find_object(object)?)? {
            Advance::Applied { .. } => Err(StoreError::new(StoreErrorKind::Corrupt)),
            refused => Ok(refused),
        }
    }

    fn forget_object(&mut self, object: &ObjectKey) -> Result<Option<Version>, StoreError> {
        let forget = self.forget_object.on(self.connection)?;
        let mut rows = forget.query(params![object.digest().as_slice()])?;
        let found = rows.next()?.map(found).transpose()?;
        found.map(|found| found.version_of(object)).transpose()
    }

    fn purge_deleted(&mut self, retention: Duration, at_most: i64) -> Result<usize, StoreError> {
        let now = micros(moment(self.clock));
        let before = now.saturating_sub(micros_after(0, retention));
        let purge = self.purge_deleted.on(self.connection)?;
        Ok(purge.execute(params![before, at_most])?)
    }
}

fn found(row: &Row<'_>) -> rusqlite::Result<FoundObject> {
    Ok(FoundObject {
        tenant: row.get(0)?,
        kind: row.get(1)?,
        object_id: row.get(2)?,
        version: FoundVersion {
            kind: row.get(3)?,
            number: row.get(4)?,
            tie: row.get(5)?,
            deletion: row.get(6)?,
        },
    })
}

fn previous(row: &Row<'_>) -> rusqlite::Result<Option<FoundVersion>> {
    let Some(number) = row.get(1)? else {
        return Ok(None);
    };
    Ok(Some(FoundVersion {
        kind: row.get(0)?,
        number,
        tie: row.get(2)?,
        deletion: row.get(3)?,
    }))
}

impl SqliteStore {
    async fn find_object(&self, object: ObjectKey) -> Result<Option<Version>, StoreError> {
        let find = move |verbs: &mut Verbs<'_>| verbs.find_object(&object);
        let answer = self.read.submit(Unwanted::Skip, find, |found| found);
        answer.await.unwrap_or_else(|| Err(closed()))
    }

    /// Advances an object in your own transaction, so that its version and your rows are one
    /// commit: what is written last is what is newest. The connection is yours, on the same file.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("shop.sqlite");
    /// # let (id, total, revision) = ("o1", 100, 7);
    /// use hookproof::{Advance, ObjectKey, SqliteStore, Version, store::sql::ImmediateTx};
    ///
    /// let store = SqliteStore::open(&path)?;
    /// let mut connection = rusqlite::Connection::open(&path)?;
    /// # connection.execute("CREATE TABLE orders (id TEXT PRIMARY KEY, total INTEGER)", [])?;
    ///
    /// let tx = ImmediateTx::begin(&mut connection)?;
    /// let order = ObjectKey::new("", "order", id)?;
    /// if let Advance::Applied { .. } = store.advance_in(&tx, &order, Version::number(revision))? {
    ///     tx.execute("REPLACE INTO orders VALUES (?1, ?2)", (id, total))?;
    /// }
    /// tx.commit()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`advance`](OrderGuard::advance); nothing is then left in the transaction.
    /// [`StoreErrorKind::Misuse`] also if the connection's database has no such table, or if SQLite
    /// has ended the transaction.
    pub fn advance_in(
        &self,
        tx: &ImmediateTx<'_>,
        object: &ObjectKey,
        version: Version,
    ) -> Result<Advance, StoreError> {
        self.in_tx(tx, |verbs| verbs.advance(object, &version))
    }
}

impl OrderGuard for SqliteStore {
    fn advance<'a>(
        &'a self,
        object: &'a ObjectKey,
        version: Version,
    ) -> StoreFuture<'a, Result<Advance, StoreError>> {
        Box::pin(async move {
            // What is not newer than something that stood is not newer than what stands: answered
            // by a reader, without a lock.
            match version.judge(self.find_object(object.clone()).await?)? {
                Advance::Applied { .. } => {}
                refused => return Ok(refused),
            }
            let object = object.clone();
            let advance = move |verbs: &mut Verbs<'_>| verbs.advance(&object, &version);
            self.write(Unwanted::Skip, advance).await
        })
    }

    fn current<'a>(
        &'a self,
        object: &'a ObjectKey,
    ) -> StoreFuture<'a, Result<Option<Version>, StoreError>> {
        Box::pin(self.find_object(object.clone()))
    }

    fn forget_object<'a>(
        &'a self,
        object: &'a ObjectKey,
    ) -> StoreFuture<'a, Result<Option<Version>, StoreError>> {
        let object = object.clone();
        Box::pin(self.write(Unwanted::Run, move |verbs| verbs.forget_object(&object)))
    }

    fn purge_deleted(
        &self,
        retention: Duration,
        at_most: usize,
    ) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move {
            let mut purged = 0_usize;
            loop {
                let step = at_most.saturating_sub(purged).min(PURGE_STEP);
                if step == 0 {
                    return Ok(purged);
                }
                // Cannot fail: a step is small.
                let most = i64::try_from(step).unwrap_or_default();
                let purge = move |verbs: &mut Verbs<'_>| verbs.purge_deleted(retention, most);
                let gone = self.write(Unwanted::Skip, purge).await?;
                purged = purged.saturating_add(gone);
                if gone < step {
                    return Ok(purged);
                }
            }
        })
    }
}
